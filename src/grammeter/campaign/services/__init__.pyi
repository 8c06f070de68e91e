from grammeter.campaign.services import answers as answers
from grammeter.campaign.services import assign as assign
from grammeter.campaign.services import campaigns as campaigns
from grammeter.campaign.services import database as database
from grammeter.campaign.services import exports as exports
from grammeter.campaign.services import judges as judges
from grammeter.campaign.services import organisers as organisers
from grammeter.campaign.services import results as results
