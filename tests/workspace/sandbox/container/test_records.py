import os
from pathlib import Path

from tejat.workspace.sandbox.container.records import ContainerRecords


def test_a_record_belongs_to_somebody_until_it_is_unlocked(tmp_path: Path) -> None:
    records = ContainerRecords(str(tmp_path))
    record = records.create("tejat-1")
    assert record.exists
    assert not records.is_abandoned("tejat-1")
    record.unlock()
    record.unlock()
    assert record.exists
    assert records.is_abandoned("tejat-1")
    record.remove()
    record.remove()
    assert not record.exists
    assert records.is_abandoned("tejat-1")


def test_old_records_of_nobody_go(tmp_path: Path) -> None:
    records = ContainerRecords(str(tmp_path))
    held, old, new = (records.create(name) for name in ("held", "old", "new"))
    for record in (old, new):
        record.unlock()
    for record in (held, old):
        os.utime(record.path, (1, 1))
    records.remove_stale()
    assert [record.exists for record in (held, old, new)] == [True, False, True]
    held.remove()


def test_each_state_has_its_own_label(tmp_path: Path) -> None:
    labels = {ContainerRecords(str(tmp_path / name)).label for name in ("a", "b", "a")}
    assert len(labels) == 2
    ContainerRecords(str(tmp_path / "missing")).remove_stale()
