"""Draws docs/performance.svg from the JSON that `cargo bench --bench gpu` writes.

python3 benches/gpu/plot.py docs/performance.json docs/performance.svg
"""
import html
import json
import sys

WIDTH, LEFT, BAR, GAP = 900, 360, 18, 6
SECTIONS = [
    # section, title, unit, only cases that contain one of these
    ("sources", "A source for every vertex: share of what a copy kernel moves", "% of copy", [""]),
    ("crowds", "10,000 characters of 5,000 vertices: billions of vertices a second", "Gv/s", [""]),
    ("skinnings", "The same crowd, linear and by dual quaternions: billions of vertices a second", "Gv/s", [""]),
    ("layouts", "The same crowd in other layouts and dispatch schemes: billions of vertices a second", "Gv/s",
     ["10000 of"]),
    ("real", "2,000 of a real model: billions of vertices a second", "Gv/s", [" of "]),
]


def main(source, target):
    with open(source) as file:
        report = json.load(file)
    y, parts = 44, []
    for section, title, unit, wanted in SECTIONS:
        cases = [
            case for case in report["cases"]
            if case["section"] == section and unit in case and any(word in case["case"] for word in wanted)
        ]
        if not cases:
            continue
        most = 100.0 if unit.startswith("%") else max(case[unit] for case in cases)
        parts.append(f'<text x="12" y="{y}" class="title">{html.escape(title)}</text>')
        y += 14
        for case in cases:
            length = (WIDTH - LEFT - 90) * case[unit] / most
            ours = section != "layouts" or "ours" in case["case"]
            name = html.escape(case["case"].removeprefix("10000 of 5000: "))
            parts.append(f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{name}</text>')
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{max(length, 1):.1f}" height="{BAR}" '
                         f'fill="{"#3b6ea8" if ours else "#b0b7c0"}"/>')
            parts.append(f'<text x="{LEFT + max(length, 1) + 6:.1f}" y="{y + 13}">{case[unit]:.3g}</text>')
            y += BAR + GAP
        y += 24
    head = f'{report["adapter"]}, {report.get("date", "")}'
    with open(target, "w") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" font-family="sans-serif" font-size="13">'
            f'<style>.title{{font-weight:bold}}</style><rect width="{WIDTH}" height="{y}" fill="#fff"/>'
            f'<text x="12" y="20" fill="#666">{html.escape(head)}</text>{"".join(parts)}</svg>\n'
        )


if __name__ == "__main__":
    main(*sys.argv[1:3])
