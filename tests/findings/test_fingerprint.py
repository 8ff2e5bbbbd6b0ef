"""Fingerprints: equal when only places move, different when findings do."""

from __future__ import annotations

import random
from dataclasses import replace

from sample_report import MODELS, ROOT, sample_report, typing_finding, wrapper_finding

from eagle3_lint.findings.fingerprint import fingerprints, fingerprints_of, relative_path
from eagle3_lint.findings.model import Finding, Span
from eagle3_lint.findings.report import Suppressed


def moved(finding: Finding, lines: int) -> Finding:
    span = finding.span
    evidence = tuple(replace(link, line=link.line + lines) for link in finding.evidence)
    message = f"{finding.message} (now at line {span.line + lines})"
    return replace(
        finding,
        span=Span(span.line + lines, span.column + 2, span.end_line + lines, span.end_column + 2),
        evidence=evidence,
        message=message,
    )


def test_lines_and_messages_do_not_matter() -> None:
    findings = [wrapper_finding(), typing_finding()]
    assert fingerprints(findings, ROOT) == fingerprints([moved(finding, 100) for finding in findings], ROOT)


def test_the_folder_of_the_checkout_does_not_matter() -> None:
    elsewhere = wrapper_finding(path="/other/place/python/sglang/srt/models/wrapper.py")
    assert fingerprints([wrapper_finding()], ROOT) == fingerprints([elsewhere], "/other/place/python")


def test_other_findings_do_not_matter() -> None:
    alone = fingerprints([wrapper_finding()], ROOT)[0]
    others = [
        wrapper_finding(code="EGL102", symbol="incomplete-eagle3-interface"),
        wrapper_finding(class_name="sglang.srt.models.wrapper.Other", scope="Other"),
        typing_finding(),
        wrapper_finding(),
    ]
    assert fingerprints(others, ROOT)[3] == alone


def test_what_is_missing_from_a_class_does_not_matter_for_the_rules_about_the_class() -> None:
    grown = wrapper_finding(methods=("set_eagle3_layers_to_capture",), inner=())
    assert fingerprints([grown], ROOT) == fingerprints([wrapper_finding()], ROOT)


def test_what_a_finding_is_about_matters() -> None:
    variants = [
        wrapper_finding(),
        wrapper_finding(code="EGL102"),
        wrapper_finding(path=f"{MODELS}/other.py"),
        wrapper_finding(class_name="sglang.srt.models.wrapper.Other"),
        wrapper_finding(code="EGL103"),
        wrapper_finding(code="EGL103", methods=("get_embed",)),
        wrapper_finding(code="EGL103", inner=()),
        typing_finding(),
        typing_finding(name="List"),
        typing_finding(scope="Inner.load"),
    ]
    assert len(set(fingerprints(variants, ROOT))) == len(variants)


def test_equal_ones_get_ordinals_by_place_whatever_their_order() -> None:
    findings = [typing_finding(span=Span(line, 3, line, 9)) for line in (5, 9, 30)]
    in_order = dict(zip(findings, fingerprints(findings, ROOT), strict=True))
    assert len(set(in_order.values())) == 3
    shuffled = findings[:]
    random.Random(1).shuffle(shuffled)
    assert dict(zip(shuffled, fingerprints(shuffled, ROOT), strict=True)) == in_order
    assert fingerprints(findings[:1], ROOT)[0] == in_order[findings[0]]


def test_silencing_one_of_equal_findings_does_not_rename_the_others() -> None:
    first, second = (typing_finding(span=Span(line, 3, line, 9)) for line in (5, 9))
    both = fingerprints_of(sample_report(first, second))
    silenced = fingerprints_of(sample_report(second, suppressions=(Suppressed(first, "inSource"),)))
    assert silenced == both


def test_relative_paths() -> None:
    assert relative_path("/a/b/c.py", "/a") == "b/c.py"
    assert relative_path("/a/b/c.py", "/") == "a/b/c.py"
    assert relative_path("/ab/c.py", "/a") == "../ab/c.py"
    assert relative_path("/a", "/a") == "."
