"""An application has one colour in all charts of a run."""

from matplotlib.colors import to_hex

from simplugin.figures import Figure, groups_of
from simplugin.listings import Listing
from simplugin.reports import draw_gantt
from simplugin.reports.colours import colouring, group_colour, in_colour_order
from simplugin.reports.curves import draw_curves
from simplugin.reports.page.activity_charts import activity_chart
from simplugin.reports.page.documents import figure_document
from simplugin.scenarios.outputs import figure_document as written
from simplugin.scenarios.outputs import figure_from
from simplugin.simulation.trace import COLUMNS

# "report" is the first execution to end; an application without any executions keeps its colour.
GROUPS = ("crunch two", "none", "crunch one", "report")


def figure_of(*names):
    series = {name: ([0, 1], [at, at + 1]) for at, name in enumerate(names)}
    return Figure("f", "F", "x", "y", series, groups=GROUPS)


def test_an_application_has_its_colour_in_all_charts(result):
    figure = figure_of("optimum", "report", "crunch one", "crunch two")
    [axes] = draw_curves([figure]).axes
    curves = {line.get_label(): to_hex(line.get_color()) for line in axes.lines}
    chart = draw_gantt(result, groups=groups_of([figure])).axes[0].get_legend()
    labels = [text.get_text() for text in chart.get_texts()]
    patches = [to_hex(each.get_facecolor()) for each in chart.get_patches()]
    bars = dict(zip(labels, patches, strict=True))
    page = figure_document(figure)
    on_page = {
        each["name"]: group_colour(number)
        for each, number in zip(page["series"], page["numbers"], strict=True)
    }
    activities = Listing("", tuple((name, "") for name in COLUMNS), tuple(result.trace.rows()))
    kept = activity_chart(activities, groups=groups_of([figure_from(written(figure))]))
    for number, name in enumerate(GROUPS):
        if name != "none":
            assert {each[name] for each in (curves, bars, on_page)} == {group_colour(number)}
        assert kept.groups[number] == name
    assert curves["optimum"] == group_colour(4)


def test_without_applications_the_order_is_natural(result):
    assert in_colour_order(["b10", "", "b2", "a"], ["z"]) == ["z", "a", "b2", "b10"]
    names = colouring(result, "label").legend
    assert [*names] == ["crunch one", "crunch two", "report", "(none)"]
