"""What report pages do in a browser.

    python3 page_test.py FOLDER [PICTURES]

FOLDER holds the pages that tests/e2e/test_page.sh makes. Pictures of them, light, dark and on a
phone, are left in the folder PICTURES.
"""
import os
import re
import sys
import xml.parsers.expat

from browser import Browser

PAGES = ("folded.html", "relu.html", "diff.html", "why.html", "hostile.html", "large.html",
         "why_all.html", "why_node.html", "why_hostile.html", "why_large.html")
BYTES_MAX = 20_000_000
SECONDS_MAX = 2.0


def check(condition, *words):
    if not condition:
        raise AssertionError(" ".join(str(word) for word in words))


def check_file(path):
    """Well-formed, of bounded size, and without anything to fetch."""
    with open(path, "rb") as file:
        data = file.read()
    check(len(data) < BYTES_MAX, path, len(data), "bytes")
    xml.parsers.expat.ParserCreate().Parse(data, True)
    data = data.replace(b'xmlns="http://www.w3.org/2000/svg"', b"")
    outside = re.search(rb"(?:src|href)=\"(?!#)[^\"]*\"|url\(|@import|https?://", data)
    check(outside is None, path, "names something outside:", outside and outside.group())


def is_shown(browser, selector):
    return browser.run(
        "const e = document.querySelector(arguments[0]); return e !== null && "
        "e.getClientRects().length > 0 && e.checkVisibility({contentVisibilityAuto: false})",
        selector)


def search(browser, words):
    """Type into the search field and wait for the answer."""
    browser.press("Escape", "/")
    check(browser.run("return document.activeElement.id") == "find", "/ does not go to the search")
    browser.press(*words)
    return browser.wait("return document.getElementById('found').textContent")


def current(browser):
    return browser.run("const e = document.querySelector('.at'); return e && e.textContent")


def check_search(browser, folder):
    browser.open(f"{folder}/folded.html")
    check(search(browser, "nothing-of-this-name") == "none")
    check(current(browser) is None)
    # A name that occurs in folded lines only, and in lists that are closed.
    found = search(browser, "/blocks.2/norm1/rep/add")
    check(re.fullmatch(r"1 of \d+", found), found)
    check("/blocks.2/norm1/rep/Add" in current(browser), current(browser))
    check(is_shown(browser, ".at"), "the match is folded away")
    inside = browser.run("const r = document.querySelector('.at').getBoundingClientRect();"
                         "return r.bottom > 0 && r.top < innerHeight")
    check(inside, "the match is not in sight")
    # By operator; keys go on and back, and begin again at the end.
    total = int(search(browser, "softmax").split(" of ")[1])
    check(total >= 4, total)
    browser.press("Enter")
    check(browser.run("return document.getElementById('found').textContent") == f"2 of {total}")
    browser.run("document.activeElement.blur()")
    browser.press("n", "p", "p", "p")
    check(browser.run("return document.getElementById('found').textContent") ==
          f"{total} of {total}")
    browser.press("Escape")
    check(browser.run("return document.querySelectorAll('.hit').length") == 0)
    check(browser.run("return document.getElementById('find').value") == "")


def check_folding(browser, folder):
    browser.open(f"{folder}/folded.html")
    group = "#pass-normalize details"
    drawing = "#pass-normalize svg"
    check(not is_shown(browser, drawing), "clean-up is open from the start")
    browser.click(f"{group} > summary")
    check(browser.run("return document.querySelector(arguments[0]).open", group))
    check(is_shown(browser, f"{group} > :not(summary)"), "a site does not open")
    browser.click("#expand")
    check(is_shown(browser, drawing))
    browser.click("#collapse")
    check(browser.run("return document.querySelectorAll('main details[open]').length") == 0)
    browser.open(f"{folder}/folded.html", "#e12")
    check(is_shown(browser, "#e12"), "a link into a folded list does not open it")
    # From the keyboard: every summary and button can be reached.
    browser.open(f"{folder}/relu.html")
    browser.run("document.querySelector('details > summary').focus()")
    before = browser.run("return document.activeElement.parentElement.open")
    browser.press("Enter")
    check(browser.run("return document.activeElement.parentElement.open") != before)


def luminance(color):
    channels = [int(value) / 255 for value in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrasts(browser):
    """Each pair of colours of words and what is behind them, with its contrast."""
    pairs = browser.run("""
        const pairs = new Map();
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
            const own = node.parentElement;
            if (node.textContent.trim() === '' || own.closest('svg, script, style')) continue;
            let at = own;
            while (at && /rgba\\(.*, 0\\)/.test(getComputedStyle(at).backgroundColor))
                at = at.parentElement;
            const back = at === null ? 'rgb(255,255,255)' : getComputedStyle(at).backgroundColor;
            pairs.set(getComputedStyle(own).color + ' on ' + back, own.outerHTML.slice(0, 80));
        }
        return [...pairs]""")
    for colors, where in pairs:
        light, dark = sorted((luminance(c) for c in colors.split(" on ")), reverse=True)
        yield (light + 0.05) / (dark + 0.05), colors, where


def check_theme(browser, folder):
    paper = "return getComputedStyle(document.body).backgroundColor"
    seen = {}
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        browser.open(f"{folder}/folded.html")
        browser.click("#expand")
        seen[scheme] = browser.run(paper)
        for contrast, colors, where in contrasts(browser):
            check(contrast >= 4.5, scheme, colors, round(contrast, 2), where)
        browser.click("#theme")
        seen[scheme + " switched"] = browser.run(paper)
    browser.prefer("light")
    check(seen["light"] == seen["dark switched"], seen)
    check(seen["dark"] == seen["light switched"], seen)
    check(luminance(seen["light"]) > 0.9 and luminance(seen["dark"]) < 0.05, seen)


def check_names(browser, folder):
    """Whatever can be focused or shown as a picture has a name; ids are there once."""
    for page in PAGES:
        browser.open(f"{folder}/{page}")
        faults = browser.run("""
            const faults = [];
            const named = (e) => (e.getAttribute('aria-label') ?? e.textContent).trim() !== '' ||
                e.labels?.length > 0;
            for (const e of document.querySelectorAll('button, a, summary, input, [role=group]'))
                if (!named(e)) faults.push(e.outerHTML.slice(0, 200));
            for (const e of document.querySelectorAll('svg[role=img]'))
                if (!document.getElementById(e.getAttribute('aria-labelledby')))
                    faults.push(e.outerHTML.slice(0, 200));
            const ids = new Set();
            for (const e of document.querySelectorAll('[id]')) {
                if (ids.has(e.id)) faults.push('id twice: ' + e.id);
                ids.add(e.id);
            }
            for (const e of document.querySelectorAll('a[href^="#"]'))
                if (!ids.has(e.getAttribute('href').slice(1))) faults.push('leads nowhere: ' + e.href);
            return faults""")
        check(not faults, page, faults[:3])


def check_phone(browser, folder):
    browser.resize(375, 800)
    for page in PAGES:
        browser.open(f"{folder}/{page}")
        browser.click("#expand")
        width = browser.run("return document.documentElement.scrollWidth")
        check(width <= 375, page, "is", width, "pixels wide on a phone")
        sticks = browser.run("return [...document.querySelectorAll('svg.vfd')]"
                             ".filter((e) => e.closest('.scroll') === null).length")
        check(sticks == 0, page, sticks, "drawings do not scroll in themselves")
    browser.resize(1280, 900)


def check_sections(browser, folder):
    """With data: how far outputs and the ends of blocks moved."""
    browser.open(f"{folder}/relu.html")
    check(browser.run("return document.querySelectorAll('#effect table').length") == 2)
    check(is_shown(browser, "#effect svg"), "the plot is not there")
    browser.open(f"{folder}/diff.html")
    check(is_shown(browser, "#moved pre"), "how far tensors moved is not there")


def check_print(browser, folder):
    browser.open(f"{folder}/folded.html")
    browser.click("#collapse")
    browser.tool("Emulation.setEmulatedMedia", media="print")
    check(not is_shown(browser, "#find"), "the search is printed")
    check(is_shown(browser, "#e1"), "what is folded is not printed")
    browser.tool("Emulation.setEmulatedMedia", media="")


def check_reasons(browser, folder):
    """What a reason is about is marked, and how it hangs together with the site."""
    browser.open(f"{folder}/why.html")
    browser.click("#expand")
    for mark in (".box.tone-marked", ".box.tone-site", ".arrow.tone-marked"):
        check(is_shown(browser, f"#pass-fold-ln-affine {mark}"), mark, "is not drawn")
    alike = browser.run("return [...document.querySelectorAll('#pass-fold-ln-affine .group')]"
                        ".map((e) => e.querySelectorAll('.place').length)")
    check(max(alike) > 1, "alike places do not stand together:", alike)
    browser.open(f"{folder}/why_node.html")
    check(is_shown(browser, "#asked-for .box.tone-marked"), "the node asked for is not drawn")
    search(browser, "softmax")
    check("Softmax" in current(browser), current(browser))


def check_large(browser, folder):
    """2,000 nodes."""
    seconds = browser.open(f"{folder}/large.html")
    check(seconds < SECONDS_MAX, "a large page opens in", seconds, "s")
    nodes = browser.run("return document.querySelectorAll('#nodes tbody tr').length")
    check(nodes >= 1900, nodes, "nodes are listed")
    total = int(search(browser, "layer_1234").split(" of ")[1])
    check(total >= 1 and "layer_1234" in current(browser), total)
    return seconds


def check_hostile(browser, folder):
    """Names that are markup are text, and bytes that are no text are visible."""
    for page in ("hostile.html", "why_hostile.html"):
        check_names_are_text(browser, f"{folder}/{page}")


def check_names_are_text(browser, page):
    browser.open(page)
    check(browser.run("return window.broken === undefined"), "a name was run as a script")
    check(browser.run("return document.querySelectorAll('main b, main img').length") == 0)
    browser.click("#expand")
    words = browser.run("return document.body.innerText")
    for name in ("</script><b>", "<img src=x onerror=broken=1>", "\\xff\\xfe", "]]>", "&amp;"):
        check(name in words, "the page lacks", name)


def pictures(browser, folder, out):
    os.makedirs(out, exist_ok=True)
    for page in PAGES[:4]:
        for name, width, scheme in (("light", 1280, "light"), ("dark", 1280, "dark"),
                                    ("phone", 375, "light")):
            browser.resize(width, 900)
            browser.prefer(scheme)
            browser.open(f"{folder}/{page}")
            browser.picture(f"{out}/{page[:-5]}_{name}.png")


def main():
    folder, out = sys.argv[1], (sys.argv + [""])[2]
    for page in PAGES:
        check_file(f"{folder}/{page}")
    with Browser() as browser:
        browser.resize(1280, 900)
        for page in PAGES:
            browser.open(f"{folder}/{page}")
            check(browser.log() == [], page, "the console says", browser.log())
        for test in (check_search, check_folding, check_theme, check_names, check_phone,
                     check_sections, check_print, check_reasons, check_hostile):
            test(browser, folder)
        seconds = check_large(browser, folder)
        check(browser.log() == [], "the console said something")
        if out:
            pictures(browser, folder, out)
    print(f"{len(PAGES)} pages; the one of 2,000 nodes opened in {seconds:.2f} s")


main()
