from grammeter.engine.batch import BLOCK as BLOCK
from grammeter.engine.batch import Summary as Summary
from grammeter.engine.batch import run_batch as run_batch
from grammeter.engine.block import scorer as scorer
from grammeter.engine.job import LONGEST as LONGEST
from grammeter.engine.job import Job as Job
from grammeter.engine.writing import ERRORS as ERRORS
