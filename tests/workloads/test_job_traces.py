"""Job traces as columns: what is filled in, looked up and refused."""

import pickle

import numpy as np
import pytest
from naming import raises_naming

from simplugin.core.errors import WorkloadError
from simplugin.workloads.job_traces import FIELDS, FRACTIONAL, JobTrace

HEADER = (
    ("Version", "2.2"),
    ("Partition", "1  one.example.org"),
    ("Partition", "12\tnext to it\nof which more is said"),
    ("Partition", "all of them"),
    ("", "Partition: 3 not labelled"),
)


def test_fields_that_are_left_out_are_unknown():
    trace = JobTrace({"submit": [0, 1.5, 1.5], "processors": 4})
    assert len(trace) == 3
    given = {"job": [1, 2, 3], "submit": [0, 1.5, 1.5], "processors": [4, 4, 4]}
    for name in FIELDS:
        assert getattr(trace, name).tolist() == given.get(name, [-1, -1, -1]), name


def test_eighteen_fields_have_types_and_cannot_be_changed():
    submit = np.array([0.0, 1])
    trace = JobTrace({"submit": submit})
    submit[0] = 7
    assert trace.submit.tolist() == [0, 1]
    assert list(trace.columns) == list(FIELDS)
    assert len(FIELDS) == 18
    for name, values in trace.columns.items():
        assert values.dtype == (np.float64 if name in FRACTIONAL else np.int64), name
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 3
    with pytest.raises(AttributeError):
        trace.job = np.array([1, 2])


def test_traces_are_equal_by_their_content():
    one = JobTrace({"submit": [0, 1], "user": 3}, HEADER)
    assert one == JobTrace({"submit": [0, 1], "user": [3, 3]}, HEADER)
    assert one != JobTrace({"submit": [0, 1], "user": [3, 4]}, HEADER)
    assert one != JobTrace({"submit": [0, 1, 2], "user": 3}, HEADER)
    assert one != JobTrace({"submit": [0, 1], "user": 3})
    assert one != HEADER
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(one) == "<JobTrace of 2 jobs>"
    with pytest.raises(TypeError):
        hash(one)


@pytest.mark.parametrize(("submit", "is_sorted"), [([0, 0, 3], True), ([0, 3, 2], False)])
def test_order_of_dates(submit, is_sorted):
    assert JobTrace({"submit": submit}).is_sorted is is_sorted


def test_the_header_is_looked_up():
    trace = JobTrace({"job": [5]}, HEADER)
    assert trace.label("Version") == "2.2"
    assert trace.label("MaxJobs") is None
    assert len(trace.labels("Partition")) == 3
    assert trace.names("Partition") == {1: "one.example.org", 12: "next to it"}
    assert trace.names("Queue") == {}


def test_some_jobs():
    trace = JobTrace({"job": [5, 5, 9], "user": [1, 2, 1]}, HEADER)
    part = trace.select(trace.user == 1)
    assert (part.job.tolist(), part.header) == ([5, 9], HEADER)
    assert trace.select([2, 0]).job.tolist() == [9, 5]
    with pytest.raises(WorkloadError):
        trace.select(trace.user == 3)


REFUSED = [
    ({"jobs": [1]}, "'jobs'"),
    ({}, ""),
    ({"job": 1}, ""),
    ({"job": []}, ""),
    ({"job": [1, 2], "user": [1]}, ""),
    ({"job": [[1, 2]]}, ""),
    ({"wait": ["a"]}, "wait"),
    ({"wait": [0, -2]}, "wait 2 -2"),
    ({"wait": [-0.5]}, "wait 1 -0.5"),
    ({"run_time": [np.nan]}, "run_time 1 nan"),
    ({"user": [1, 1.5]}, "user 2 1.5"),
    ({"status": [5, 6]}, "status 2 6"),
    ({"user": [2**53]}, "user 1 9007199254740992"),
]


@pytest.mark.parametrize(("columns", "named"), REFUSED)
def test_refused(columns, named):
    with raises_naming(WorkloadError, *named.split()):
        JobTrace(columns)
