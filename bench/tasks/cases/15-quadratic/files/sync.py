"""Merges lists of records from two places."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Record:
    key: object
    value: object
    deleted: bool = False


def merge_records(ours, theirs):
    """Merge records by key.

    Of several records with one key in a list, the last one counts, at the place of the first. Records of `theirs`
    replace ours with the same key, at our place; new ones follow in their order. A record that is marked as deleted in
    `theirs` removes ours; one that we never had is left out. Deleted records of ours stay, unless theirs replace them.
    Returns the merged list, and the keys of ours whose record was replaced by a different one, in our order.
    """
    merged = []
    for record in ours:
        for index, other in enumerate(merged):
            if other.key == record.key:
                merged[index] = record
                break
        else:
            merged.append(record)
    latest = []
    for record in theirs:
        for index, other in enumerate(latest):
            if other.key == record.key:
                latest[index] = record
                break
        else:
            latest.append(record)
    changed = []
    result = []
    for record in merged:
        found = [other for other in latest if other.key == record.key]
        if not found:
            result.append(record)
        elif not found[0].deleted:
            result.append(found[0])
            if found[0] != record:
                changed.append(record.key)
    for record in latest:
        if not record.deleted and not [other for other in merged if other.key == record.key]:
            result.append(record)
    return result, changed
