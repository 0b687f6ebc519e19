from tejat.core.tool import Kind
from tejat.policy.call import Call
from tejat.policy.findings import Finding
from tejat.policy.judge import Judge, no_network
from tejat.policy.rules import Decision, Facts, Rule, Tier

ALLOW = Rule(Decision.ALLOW, Tier.USER, "u:1", "search", "github")
WITH_NETWORK = Rule(Decision.ALLOW, Tier.USER, "u:2", "search", "github", network=True)
OTHER = Rule(Decision.DENY, Tier.USER, "u:3", "write_file")


def judge(*, wants_network: bool = False) -> Judge:
    facts = Facts("search", Kind.OTHER, {}, ("/r",), "/h", server="github", wants_network=wants_network)
    return Judge(Call(facts))


def test_only_rules_for_the_call_count() -> None:
    assert judge().findings([OTHER]) == [Finding(None)]
    assert judge().findings([OTHER, ALLOW]) == [Finding(ALLOW)]


def test_the_network_has_to_be_allowed_by_name() -> None:
    assert judge(wants_network=True).findings([ALLOW]) == [Finding(None, no_network())]
    assert judge(wants_network=True).findings([WITH_NETWORK]) == [Finding(WITH_NETWORK)]


def test_the_offer_is_the_tool_as_it_was_called() -> None:
    assert judge().offer([]) == Rule(Decision.ALLOW, Tier.USER, "your answer", "search", "github")
    assert judge(wants_network=True).offer([]) == Rule(
        Decision.ALLOW, Tier.USER, "your answer", "search", "github", network=True
    )


def test_nothing_is_offered_for_a_name_that_stands_for_all() -> None:
    for tool, server in (("*", None), ("*", "x"), ("a*", "x"), ("t", "*")):
        assert Judge(Call(Facts(tool, Kind.OTHER, {}, ("/r",), "/h", server=server))).offer([]) is None


def test_plan_mode_objects() -> None:
    assert judge().objection_in_plan_mode() is not None
