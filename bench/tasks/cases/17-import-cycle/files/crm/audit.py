"""The audit trail. It keeps the last LIMIT entries, and publishes an event when it drops some."""

from crm import events

LIMIT = 100
TRAIL = []


def record(kind, text):
    TRAIL.append((kind, text))
    if len(TRAIL) > LIMIT and kind != "dropped":
        del TRAIL[: len(TRAIL) // 2]
        events.publish("dropped", f"{len(TRAIL)} left")
