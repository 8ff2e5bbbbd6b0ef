"""The examples for continuous integration: valid for their hosts, and their commands do what the comments say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from git_checkout import MODELS, SETTER, GitCheckout, inner, typed, wrapper
from jsonschema import Draft7Validator
from official_schemas import sarif_schema

import eagle3_lint

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "ci"
WRAPPER = f"{MODELS}/wrapper_vl.py"
EXPRESSION = re.compile(r"\$\{\{ *([\w.]+) *\}\}")


@pytest.fixture
def checkout(tmp_path: Path) -> GitCheckout:
    """A pull request that gives a language model the setter; its wrapper and an old fault are on the main branch."""
    made = GitCheckout.create(tmp_path / "checkout")
    made.write("inner_lm.py", inner("InnerForCausalLM"))
    made.write("wrapper_vl.py", wrapper("Wrapper", "InnerForCausalLM", "sglang.srt.models.inner_lm"))
    made.write("typed.py", typed())
    made.commit("start")
    made.git("checkout", "-q", "-b", "topic")
    made.write("inner_lm.py", inner("InnerForCausalLM", SETTER))
    made.commit("the setter")
    return made


@pytest.fixture
def bin(tmp_path: Path) -> Path:
    """A directory for the search path, with this package's command in it."""
    directory = tmp_path / "bin"
    directory.mkdir()
    command(directory / "eagle3-lint", f'exec "{sys.executable}" -m eagle3_lint "$@"')
    return directory


def command(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def run(script: str, checkout: GitCheckout, bin: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """What a host does with one step: its shell, its variables, in the checkout."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {
        "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "EAGLE3_LINT_CACHE_DIR": str(checkout.root.parent / "cache"),
        **variables,
    }
    return subprocess.run(
        ("bash", "-e", "-c", script),
        check=False,
        cwd=checkout.root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def schema_errors(path: Path, *options: str) -> str:
    """What the schema of the host says about ``path``."""
    done = subprocess.run(
        (sys.executable, "-m", "check_jsonschema", *options, str(path)),
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return "" if done.returncode == 0 else done.stdout


def load(name: str) -> Any:
    return yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))


WORKFLOW = ("--builtin-schema", "vendor.github-workflows")
PIPELINE = ("--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci")


@pytest.mark.parametrize(
    ("name", "options", "broken"),
    [
        ("github-workflow.yml", WORKFLOW, ("runs-on", "run-on")),
        ("gitlab-ci.yml", PIPELINE, ("when: always", "when: whenever")),
    ],
)
def test_the_hosts_schemas(name: str, options: tuple[str, ...], broken: tuple[str, str], tmp_path: Path) -> None:
    assert schema_errors(EXAMPLES / name, *options) == ""
    damaged = tmp_path / name
    damaged.write_text((EXAMPLES / name).read_text().replace(*broken))
    assert schema_errors(damaged, *options) != ""


def steps(job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load("github-workflow.yml")["jobs"][job]["steps"]
    return found


def workflow_step(job: str) -> tuple[str, dict[str, str]]:
    """The step that runs this program, and its variables."""
    (step,) = [one for one in steps(job) if one.get("run", "").startswith("eagle3-lint")]
    return step["run"], step.get("env", {})


@pytest.mark.parametrize("job", ["review", "code-scanning"])
def test_the_workflow_installs_this_program(job: str) -> None:
    names = [one.get("uses", one.get("run", "")).partition("@")[0] for one in steps(job)]
    assert names[:3] == ["actions/checkout", "actions/setup-python", "pip install eagle3-lint"]


@pytest.mark.parametrize("is_merge", [True, False])
def test_the_workflow_annotates_what_is_new(checkout: GitCheckout, bin: Path, is_merge: bool) -> None:
    """GitHub checks out a merge of the pull request into its base."""
    base = checkout.git("rev-parse", "main")
    if is_merge:
        checkout.git("checkout", "-q", "--detach", "main")
        checkout.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
    script, variables = workflow_step("review")
    context = {"github.event.pull_request.base.sha": base}
    filled = {name: EXPRESSION.sub(lambda match: context[match[1]], value) for name, value in variables.items()}
    assert not EXPRESSION.search(script)
    done = run(script, checkout, bin, **filled)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert [line.split(" ", 1)[0] for line in lines] == ["::error"]
    assert f"file={WRAPPER},line=" in lines[0]
    assert "title=EGL101 missing-eagle3-delegation" in lines[0]
    checkout.git("checkout", "-q", "--detach", "main")
    assert run(script, checkout, bin, **filled).returncode == 0


def test_the_workflow_uploads_a_valid_log(checkout: GitCheckout, bin: Path) -> None:
    script, variables = workflow_step("code-scanning")
    done = run(script, checkout, bin, **variables)
    assert (done.returncode, done.stdout) == (0, "")
    (upload,) = [one for one in steps("code-scanning") if one.get("uses", "").startswith("github/codeql-action/")]
    log = json.loads((checkout.root / upload["with"]["sarif_file"]).read_text())
    assert list(Draft7Validator(sarif_schema()).iter_errors(log)) == []
    found = [(one["ruleId"], uri_of(one)) for one in log["runs"][0]["results"]]
    assert ("EGL101", WRAPPER) in found
    assert ("EGL301", f"{MODELS}/typed.py") in found
    permissions = load("github-workflow.yml")["jobs"]["code-scanning"]["permissions"]
    assert permissions == {"contents": "read", "security-events": "write"}


def uri_of(result: dict[str, Any]) -> str:
    uri: str = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    return uri


def test_the_pipeline_reports_what_is_new(checkout: GitCheckout, bin: Path) -> None:
    job = load("gitlab-ci.yml")["eagle3-lint"]
    assert job["before_script"] == ["pip install eagle3-lint"]
    base = checkout.git("merge-base", "main", "HEAD")
    done = run("\n".join(job["script"]), checkout, bin, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert (done.returncode, done.stderr) == (1, "")
    (issue,) = json.loads((checkout.root / job["artifacts"]["reports"]["codequality"]).read_text())
    assert issue["check_name"].startswith("EGL101")
    assert issue["location"]["path"] == WRAPPER


def test_the_pre_commit_configuration(checkout: GitCheckout, bin: Path) -> None:
    path = EXAMPLES / "pre-commit-config.yaml"
    done = subprocess.run((sys.executable, "-m", "pre_commit", "validate-config", str(path)), check=False, timeout=60)
    assert done.returncode == 0
    (repository,) = load(path.name)["repos"]
    hooks = {one["id"]: one for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    mentioned = set(re.findall(r"- id: ([\w-]+)", path.read_text()))
    assert mentioned <= hooks.keys()
    assert repository["rev"] == f"v{eagle3_lint.__version__}"
    (used,) = repository["hooks"]
    done_hook = run(f"{hooks[used['id']]['entry']} {MODELS}/inner_lm.py", checkout, bin)
    assert done_hook.returncode == 1
    assert "EGL101" in done_hook.stdout


def test_the_call_of_reviewdog(checkout: GitCheckout, bin: Path) -> None:
    command(bin / "reviewdog", 'printf "%s\\n" "$@" > asked; cat > received')
    script = str(EXAMPLES / "reviewdog.sh")
    assert os.access(script, os.X_OK)
    done = run(script, checkout, bin, BASE="main")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    asked = (checkout.root / "asked").read_text().splitlines()
    assert {option.split("=")[0] for option in asked} == {"-f", "-name", "-reporter", "-filter-mode", "-fail-level"}
    assert "-f=sarif" in asked
    log = json.loads((checkout.root / "received").read_text())
    assert list(Draft7Validator(sarif_schema()).iter_errors(log)) == []
    assert [(one["ruleId"], uri_of(one)) for one in log["runs"][0]["results"]] == [("EGL101", WRAPPER)]


def test_reviewdog_is_not_asked_when_there_is_nothing_to_say(checkout: GitCheckout, bin: Path) -> None:
    command(bin / "reviewdog", "touch asked")
    done = run(str(EXAMPLES / "reviewdog.sh"), checkout, bin, BASE="nowhere")
    assert done.returncode == 2
    assert "no commit 'nowhere'" in done.stderr
    assert not (checkout.root / "asked").exists()


def test_every_example_is_tested() -> None:
    tested = Path(__file__).read_text(encoding="utf-8")
    assert [path.name for path in sorted(EXAMPLES.iterdir()) if path.name not in tested] == []
