from tejat.policy.effects import tables as effect_tables


def test_nothing_that_only_reads_is_known_to_do_more() -> None:
    more = effect_tables.WRITING_PROGRAMS | effect_tables.DESTRUCTIVE_PROGRAMS | effect_tables.CODE_RUNNERS
    assert effect_tables.READ_ONLY_PROGRAMS & more == frozenset()


def test_every_table_of_options_holds_options() -> None:
    tables = (effect_tables.WRITE_OPTIONS, effect_tables.DESTRUCTIVE_OPTIONS, effect_tables.CODE_OPTIONS)
    empty = [name for table in tables for name, options in table.items() if not options]
    words = {
        option for table in tables for options in table.values() for option in options if not option.startswith("-")
    }
    assert (empty, words) == ([], {"eval"})
