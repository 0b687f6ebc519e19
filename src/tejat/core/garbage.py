"""How often cyclic garbage is collected, in each kind of process."""

import gc

_STARTUP_OBJECTS = 1_000_000
_USUAL_OBJECTS = 50_000
_BATCH_OBJECTS = 2_000


def collect_rarely() -> None:
    """Collect after many new objects only.

    Start-up creates many objects that stay, and a result may hold a hundred thousand paths, with hardly any cycles:
    collecting at every 700th object, the default, costs a tenth of such a call and finds nothing.
    """
    gc.set_threshold(_USUAL_OBJECTS)


def collect_often() -> None:
    """Collect early. A batch may run for days: its memory is to stay as it is."""
    gc.set_threshold(_BATCH_OBJECTS)


def postpone_collections() -> None:
    """Collect nothing during start-up: nearly all objects that it creates stay, and each collection looks at all."""
    gc.set_threshold(_STARTUP_OBJECTS)


def resume_collections() -> None:
    """Collect garbage from now on, but only among objects that are created after this call.

    The few thousand objects of start-up that are garbage are never freed. In return, no later collection looks at the
    hundred thousand that are in use.
    """
    gc.freeze()
    collect_rarely()


class PausedCollections:
    """A context in which nothing is collected, for the start-up of the library in the process of another program.

    `contextlib` is not loaded for it: every start of the program imports this module.
    """

    def __enter__(self) -> None:
        self._was_enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_enabled:
            gc.enable()
