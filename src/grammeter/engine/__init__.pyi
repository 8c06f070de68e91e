from grammeter.engine._batch import BLOCK as BLOCK
from grammeter.engine._batch import Summary as Summary
from grammeter.engine._batch import batch as batch
from grammeter.engine.job import ERRORS as ERRORS
from grammeter.engine.job import LONGEST as LONGEST
