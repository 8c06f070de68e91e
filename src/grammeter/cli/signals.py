"""Signals that end a run, from its first line on; only built-in modules are loaded here."""

import sys
from _thread import get_ident, start_new_thread
from time import sleep

TYPE_CHECKING = False  # as in `typing`, which takes longer to load than all of this
if TYPE_CHECKING:
    import signal
    from types import CodeType, FrameType
else:
    import _signal as signal

_OTHERS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_LATER = 0.01  # delay in seconds of a signal that came while a module was loaded
_came: list[int] = []  # signals that came; shared by a verb and the verbs that it calls
_delayed: list[int] = []  # signals that came while a module was loaded, to be sent again


class Stopped(KeyboardInterrupt):
    """A signal came.

    Not a plain :class:`KeyboardInterrupt`: after one that leaves executed text, as in dataclasses,
    Python ends as after Ctrl-C, whatever exit code we return.
    """


class Watch:
    """Raises :class:`Stopped` for signals, so that the work is cleaned up.

    Signals wait while a module is loaded (callers of ``within`` do not count): numpy's C code would
    turn the exception into an ``ImportError``. ``alone``: the process ends afterwards, so signals
    then end it at once.
    """

    def __init__(self, within: "CodeType", *, alone: bool) -> None:
        self._within, self._alone = within, alone
        self._handler = self._stop  # one object, for comparisons
        self._ours: list[int] = []
        wanted: list[tuple[int, object]] = [(number, signal.SIG_DFL) for number in _OTHERS]
        if alone:
            wanted.insert(0, (signal.SIGINT, signal.default_int_handler))
            sys.unraisablehook = self._unraisable
        try:
            for number, usual in wanted:
                if signal.getsignal(number) == usual:  # neither ignored nor somebody's own
                    signal.signal(number, self._handler)
                    self._ours.append(number)
        except ValueError:  # only the main thread has signals
            pass

    def take_over(self) -> None:
        """Replace Python's own handler, which asyncio and others look for."""
        import signal as public

        if signal.SIGINT in self._ours:
            public.__dict__["default_int_handler"] = self._handler

    @property
    def came(self) -> bool:
        """Whether a signal came."""
        return bool(_came)

    def catch_up(self) -> None:
        """Raise a signal that came during the last imports."""
        if _delayed:
            self._stop(_delayed.pop(), None)

    def code(self) -> int:
        """Print how the work was stopped; return 128 plus the number of the signal."""
        if self._alone:  # ignore further ones
            for number in self._ours:
                signal.signal(number, signal.SIG_IGN)
        from grammeter.cli.ending import say

        number = _came[0] if _came else signal.SIGINT
        say("interrupted" if number == signal.SIGINT else "terminated")
        return 128 + number

    def end(self) -> None:
        """Restore the default effect of signals."""
        _delayed.clear()
        for number in self._ours:
            signal.signal(number, signal.SIG_DFL)
        if self._ours:
            _came.clear()

    def _stop(self, number: int, frame: "FrameType | None") -> None:
        if self._loading(frame):
            _send_later(number)
            return
        _came.append(number)
        interrupt = signal.getsignal(signal.SIGINT)  # of asyncio, of a training, ours, Python's
        usual = (self._handler, signal.default_int_handler)
        if number == signal.SIGINT or interrupt in usual or not callable(interrupt):
            raise Stopped
        interrupt(signal.SIGINT, frame)

    def _loading(self, frame: "FrameType | None") -> bool:
        while frame is not None and frame.f_code is not self._within:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                return True
            frame = frame.f_back
        return False

    def _unraisable(self, lost: "sys.UnraisableHookArgs") -> None:
        """Send a signal again whose exception Python could only print."""
        if isinstance(lost.exc_value, Stopped) and _came:
            _send_later(_came.pop())
        else:
            sys.__unraisablehook__(lost)


def _send_later(number: int) -> None:
    main = get_ident()
    _delayed.append(number)

    def send() -> None:
        sleep(_LATER)
        if number not in _delayed:  # the work has ended
            return
        _delayed.remove(number)
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(main, number)
        else:
            signal.raise_signal(number)

    start_new_thread(send, ())
