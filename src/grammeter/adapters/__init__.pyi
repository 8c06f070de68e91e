from grammeter.adapters.codabench import score_submission as score_submission
from grammeter.adapters.evaluate import Evaluate as Evaluate
from grammeter.adapters.trl import Reward as Reward
