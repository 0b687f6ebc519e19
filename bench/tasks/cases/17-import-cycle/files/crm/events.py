"""Events and their listeners. Every event is also written to the audit trail."""

from crm.audit import record

LISTENERS = []


def subscribe(listener):
    LISTENERS.append(listener)


def publish(kind, text):
    record(kind, text)
    for listener in list(LISTENERS):
        listener(kind, text)
