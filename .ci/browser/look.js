// What the driver asks a page about itself; the file is one expression, an object of functions.
({
  // Least contrast of any text that is shown, by the formula of WCAG 2, and where.
  contrast() {
    const parse = (colour) => {
      const n = colour.match(/[\d.]+/g).map(Number);
      return { rgb: n.slice(0, 3), alpha: n.length > 3 ? n[3] : 1 };
    };
    const over = (top, below) => top.rgb.map((c, i) => c * top.alpha + below[i] * (1 - top.alpha));
    const ground = (element) => {
      const layers = [];
      for (let at = element; at; at = at.parentElement) {
        layers.push(parse(getComputedStyle(at).backgroundColor));
        if (layers.at(-1).alpha === 1) break;
      }
      return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
    };
    const light = (rgb) => {
      const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    let least = { ratio: 99, where: "nothing", texts: 0 };
    let texts = 0;
    const weigh = (element, colour, where) => {
      const below = ground(element);
      const found = ratio(light(over(parse(colour), below)), light(below));
      texts += 1;
      if (found < least.ratio) least = { ratio: found, where };
    };
    for (const element of document.querySelectorAll("body *")) {
      if (!element.checkVisibility({ opacityProperty: true }) || element.closest(".skip, .unseen, noscript")) continue;
      const said = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      const where = `${element.tagName.toLowerCase()}.${element.className}: ${element.textContent.slice(0, 30)}`;
      if (said) weigh(element, getComputedStyle(element).color, where);
      if (element.placeholder) weigh(element, getComputedStyle(element, "::placeholder").color, `placeholder of ${where}`);
    }
    return { ...least, texts };
  },

  // Controls without a name, by the rules that this page uses: text, aria-label, a label.
  nameless() {
    const named = (e) => e.getAttribute("aria-label") || e.textContent.trim() && e.tagName !== "SELECT" || e.labels?.length;
    return [...document.querySelectorAll("button, a, input, select, textarea, [role]")].filter((e) => !named(e) && !e.matches("[role=status], [role=alert], [role=timer]")).map((e) => e.outerHTML.slice(0, 80));
  },

  // Ids that are there twice, and ids that are named and not there.
  ids() {
    const all = [...document.querySelectorAll("[id]")].map((e) => e.id);
    const twice = all.filter((id, at) => all.indexOf(id) !== at);
    const names = ["aria-controls", "aria-labelledby", "aria-describedby", "for"];
    const named = names.flatMap((name) => [...document.querySelectorAll(`[${name}]`)].map((e) => e.getAttribute(name)));
    return [...twice, ...named.filter((id) => !document.getElementById(id))];
  },

  // How far the page reaches beyond its width, and what does.
  overflow() {
    const wide = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && !e.closest(".skip, .unseen") && e.getBoundingClientRect().right > innerWidth + 0.5);
    const page = document.documentElement.scrollWidth - innerWidth;
    const inner = [...document.querySelectorAll("#log, #panel, #waiting, #network")].map((e) => e.scrollWidth - e.clientWidth);
    return { beyond: Math.max(page, ...inner), what: wide.slice(0, 3).map((e) => e.outerHTML.slice(0, 80)) };
  },

  // What no text may ever become: elements that the page itself never makes, listeners and styles in attributes, links elsewhere.
  foreign() {
    const elements = [...document.querySelectorAll("body img, body script, body style, body iframe, body svg:not(#runs svg, #no-lines), body object, body embed, body link, body base, body meta, body form:not(#composer, #entry, #search), body marquee, body b, body video")];
    const marked = [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => /^on|^style$|^srcdoc$/.test(a.name)));
    const links = [...document.querySelectorAll("body a")].filter((a) => !a.getAttribute("href").startsWith("#"));
    return [...elements, ...marked, ...links].map((e) => e.outerHTML.slice(0, 100));
  },

  // Characters that change how the text around them is read, or cannot be seen.
  unseen() {
    const found = document.body.textContent.match(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/g);
    return (found ?? []).map((c) => c.codePointAt(0).toString(16));
  },

  // Elements on which the tab key stops although nothing of them is seen.
  stops() {
    return [...document.querySelectorAll("button, a[href], input, select, textarea, [tabindex='0']")].filter((e) => e.checkVisibility() && !e.closest("[inert]") && !e.getBoundingClientRect().width).map((e) => e.outerHTML.slice(0, 80));
  },
})
