"""check_page.py PAGE.html [PLAN.json]: the page is well-formed and needs nothing else; it shows the plan's parts. Prints its headings."""
import html.parser
import json
import sys

VOID = {"meta", "br", "!doctype"}
text = sys.stdin.read() if sys.argv[1] == "-" else open(sys.argv[1], encoding="utf-8").read()


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.headings, self.words, self.widths = [], [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert not {"src", "href", "onclick"} & attributes.keys() and tag != "script", (tag, attributes)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "i":
            self.widths.append(float(attributes["style"].split("width:")[1].rstrip("%")))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data):
        self.words.append(data)
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


page = Page()
page.feed(text)
assert not page.open, page.open
if len(sys.argv) > 2:
    plan = json.load(open(sys.argv[2]))
    parts = plan["predicted"]["waterfall"]
    step = plan["predicted"]["step_seconds"]
    for part, width in zip([part for part in parts if part["seconds"] > 5e-4 * step], page.widths):
        assert part["name"] in page.words and abs(part["seconds"] / step * 100 - width) < 1e-3, part
    for decision in plan["decisions"]:
        assert decision["value"] in page.words and decision["sharding"] in page.words, decision
    for block in plan["blocks"]:
        assert block["name"] in page.words, block
print(", ".join(page.headings))
