"""Gives back what it gets. What it prints tries to be markup: <script>alert(1)</script>."""


def handler(shard):
    print("<img src=x onerror=alert(1)> \u202egnol\u202c " + "x" * 20_000)
    if shard == "long":
        print("<b>x</b>" * 128_000)
        raise ValueError("<b>y</b>" * 128_000)
    if shard == "fail":
        raise ValueError("<script>document.title='broken'</script>\u202edetrevni")
    return {"given": shard, "markup": "<h1>big</h1>", "bidi": "a\u202eb"}
