"""A small report for tests of baselines, formats and the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eagle3_lint.findings.model import Edit, Evidence, Finding, Fix, Inner, Span
from eagle3_lint.findings.report import Report, ordered

MODELS = "/repo/python/sglang/srt/models"
ROOT = "/repo/python"


def wrapper_finding(**changes: Any) -> Finding:
    """An EGL101 with everything that a finding can have."""
    finding = Finding(
        code="EGL101",
        symbol="missing-eagle3-delegation",
        severity="error",
        path=f"{MODELS}/wrapper.py",
        span=Span(12, 7, 12, 14),
        message="Wrapper does not expose the setter that Inner has",
        class_name="sglang.srt.models.wrapper.Wrapper",
        registered=("sglang.srt.models.wrapper.Wrapper",),
        inner=(Inner("language_model", "sglang.srt.models.inner.Inner", True, f"{MODELS}/inner.py", 3),),
        methods=("set_eagle3_layers_to_capture", "get_embed_and_head"),
        evidence=(
            Evidence(f"{MODELS}/wrapper.py", 20, "self.language_model is built as Inner"),
            Evidence(f"{MODELS}/inner.py", 30, "Inner defines the setter"),
        ),
        fix=Fix("safe", (Edit(f"{MODELS}/wrapper.py", Span(40, 1, 40, 1), "\n    def f(self): ...\n"),)),
        scope="Wrapper",
    )
    return replace(finding, **changes)


def typing_finding(**changes: Any) -> Finding:
    """An EGL302 without any extras."""
    finding = Finding(
        code="EGL302",
        symbol="unimported-typing-name-deferred",
        severity="warning",
        path=f"{MODELS}/inner.py",
        span=Span(5, 12, 5, 20),
        message="Optional is not imported",
        name="Optional",
        scope="Inner.forward",
    )
    return replace(finding, **changes)


def sample_report(*findings: Finding, **changes: Any) -> Report:
    """A report on the given findings, or on one of each kind."""
    found = ordered(findings or (wrapper_finding(), typing_finding()))
    report = Report(
        root=ROOT,
        findings=found,
        files=2,
        classes=3,
        registered=1,
        wrappers=1,
        linted=(f"{MODELS}/inner.py", f"{MODELS}/wrapper.py"),
        given=(MODELS,),
        active=("EGL101", "EGL102", "EGL302"),
    )
    return replace(report, **changes)
