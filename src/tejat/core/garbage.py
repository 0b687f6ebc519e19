"""Collections of cyclic garbage around the start-up of an interactive session."""

import gc

_STARTUP_OBJECTS = 1_000_000
_USUAL_OBJECTS = 50_000


def postpone_collections() -> None:
    """Collect nothing during start-up: nearly all objects that it creates stay, and each collection looks at all."""
    gc.set_threshold(_STARTUP_OBJECTS)


def resume_collections() -> None:
    """Collect garbage from now on, but only among objects that are created after this call.

    The few thousand objects of start-up that are garbage are never freed. In return, no later collection looks at the
    hundred thousand that are in use.
    """
    gc.freeze()
    gc.set_threshold(_USUAL_OBJECTS)
