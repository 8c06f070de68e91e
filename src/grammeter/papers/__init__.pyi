from grammeter.papers._reproduce import Reproducible as Reproducible
from grammeter.papers._reproduce import Reproduction as Reproduction
from grammeter.papers._reproduce import Task as Task
from grammeter.papers._reproduce import reproduce as reproduce
from grammeter.papers.cells import Cell as Cell
from grammeter.papers.cells import PrintedTable as PrintedTable
from grammeter.papers.cells import Value as Value
from grammeter.papers.cells import Verdict as Verdict
