"""The HTML report: charts with tables, tasks with links and excerpts, small enough to open at once."""

from pathlib import Path

import pytest

from support.batch_results import errored, failed, many_results, passed, skipped
from support.html_checks import HOSTILE_TEXTS
from support.page_checks import check_charts, check_page, links
from support.web.browser import PHONE, Browser
from tejat.batch.directory import BatchDirectory
from tejat.batch.report.html import render_report
from tejat.batch.result import TaskResult


def make_batch(folder: Path, *results: TaskResult) -> BatchDirectory:
    """A batch whose tasks have files."""
    directory = BatchDirectory(str(folder / "batch"))
    for result in results:
        task = directory.task(result.id)
        Path(task.path).mkdir(parents=True, exist_ok=True)
        for file in (task.patch, task.transcript):
            Path(file).write_text("text")
        lines = "".join(f"\x1b[31mline {number} <b>{result.id}</b>\x1b[0m\n" for number in range(100))
        Path(task.check).write_text(lines)
    return directory


def test_a_report(tmp_path: Path) -> None:
    results = [passed("a"), failed("b"), errored("c"), skipped("d")]
    page = render_report(make_batch(tmp_path, *results[:2]), results)
    check = check_page(page)
    assert check_charts(page) == 4
    assert "✗ failed (1)" in check.text
    assert "check failed (exit 1)" in check.text
    assert "repository not usable: No such repository: /src/x." in check.text
    assert "33 %" in check.text
    assert "line 99 <b>b</b>" in check.text
    assert "line 59 <b>b</b>" not in check.text
    assert "<b>a</b>" not in check.text
    assert "\x1b" not in page
    assert links(check) == [
        "tasks/b/patch.diff",
        "tasks/b/transcript.md",
        "tasks/b/check.txt",
        "tasks/a/patch.diff",
        "tasks/a/transcript.md",
        "tasks/a/check.txt",
    ]


def test_links_are_relative_to_the_report(tmp_path: Path) -> None:
    directory = make_batch(tmp_path, passed("a"))
    inside = render_report(directory, [passed("a")], path=f"{directory.path}/reports/first.html")
    assert links(check_page(inside))[0] == "../tasks/a/patch.diff"
    assert links(check_page(render_report(directory, [passed("a")], path=str(tmp_path / "x.html")))) == []


def test_ids_cannot_lead_elsewhere(tmp_path: Path) -> None:
    results = [passed("../../etc/passwd"), passed("javascript:alert(1)"), passed("a b#c?d")]
    page = render_report(make_batch(tmp_path, *results), results)
    check = check_page(page)
    assert len(links(check)) == 9
    assert all(link.startswith("tasks/") and ".." not in link for link in links(check))


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_texts_stay_text(tmp_path: Path, text: str) -> None:
    results = [
        passed(text, model=text, repo=text),
        passed("x", model=text, repo=text),
        passed("y", model="m", repo="/y"),
        errored("b", message=text),
        failed("c"),
    ]
    directory = make_batch(tmp_path, failed("c"))
    Path(directory.task("c").check).write_text(text, encoding="utf-8", errors="surrogatepass")
    page = render_report(directory, results, title=text)
    check_page(page)
    assert check_charts(page) == 4


def test_no_results_and_one_result(tmp_path: Path) -> None:
    directory = BatchDirectory(str(tmp_path))
    assert "No results yet." in check_page(render_report(directory, [])).text
    for result in (passed("a"), errored("a"), skipped("a")):
        page = render_report(directory, [result])
        check_page(page)
        check_charts(page)


@pytest.mark.parametrize(("count", "max_size"), [(500, 500_000), (10_000, 6_000_000)])
def test_many_tasks_stay_small(tmp_path: Path, count: int, max_size: int) -> None:
    results = list(many_results(count))
    directory = make_batch(tmp_path, *(result for result in results[:400] if result.failure == "check_failed"))
    page = render_report(directory, results)
    assert len(page) < max_size
    assert page.count('<tr><th scope="row">task-') == count
    assert page.count("<pre") <= 300


def test_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    results = [*many_results(60), failed("long-" + "x" * 200), errored("e", message="word " * 100)]
    directory = make_batch(tmp_path, *(result for result in results if result.tokens))
    file = Path(directory.path) / "report.html"
    file.write_text(render_report(directory, results))
    for scheme in ("dark", "light"):
        for viewport in (PHONE, {"width": 1280, "height": 900}):
            with browser.page(viewport=viewport, colorScheme=scheme) as page:
                page.open(file.as_uri())
                assert page.evaluate("() => document.documentElement.scrollWidth") <= viewport["width"]
                assert page.check_accessibility() == []
                assert page.log["console"] == []
                assert page.log["requests"] == [file.as_uri()]
