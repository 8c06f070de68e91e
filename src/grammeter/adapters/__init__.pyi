from grammeter.adapters.codabench import score_submission as score_submission
from grammeter.adapters.loops import Evaluate as Evaluate
from grammeter.adapters.loops import Harness as Harness
from grammeter.adapters.loops import Reward as Reward
