// Owns the lines beside the list of runs: main on the left, wake beside it, and to the right of wake each run's branch, from the commit that it
// left to its merge. Whatever else was merged comes in from the left. Only lines: the list itself says the same in words, so they are hidden from screen readers.

const MOST = 4;
const STEP = 12;
const [MAIN, WAKE] = [6, 18];
const x = (lane) => WAKE + STEP * lane;

export const isSleep = ({ run }) => /-sleep$/.test(run ?? "");

// For each entry, newest first, the lines of its row as [class, path]; and how many lanes there are beside wake.
export function lanes(entries) {
  const place = new Map(entries.map(({ commit }, at) => [commit, at]));
  const rows = entries.map(() => []);
  const free = [];
  let most = 0;
  const sleeps = entries.findIndex(isSleep);
  entries.forEach((entry, at) => {
    const put = (kind, d, row = at) => rows[row]?.push([kind, d]);
    put("lane-wake", `M${WAKE} ${at ? 0 : 50}V${at === entries.length - 1 ? 50 : 100}`);
    if (sleeps >= 0 && at >= sleeps) put("lane-main", `M${MAIN} ${at === sleeps ? 50 : 0}V100`);
    if (isSleep(entry)) {
      put("lane-main", `M${MAIN} 50H${WAKE}`);
      put("lane-main dot", `M${MAIN} 50h0`);
    } else if (entry.base && !entry.run) {
      // Commits of main, or of another machine, that are no run.
      put("lane-main", `M${MAIN} 100C${MAIN} 70 ${WAKE} 80 ${WAKE} 50`);
    } else if (entry.base) {
      // A base that is not in the list lies below its end.
      const end = place.get(entry.base) ?? entries.length;
      let lane = 1;
      while (lane < MOST && (free[lane] ?? -1) > at) lane += 1;
      free[lane] = end;
      most = Math.max(most, lane);
      put("lane-run", `M${WAKE} 50H${x(lane)}V100`);
      for (let row = at + 1; row < end; row += 1) put("lane-run", `M${x(lane)} 0V100`, row);
      put("lane-run", `M${x(lane)} 0C${x(lane)} 30 ${WAKE} 20 ${WAKE} 50`, end);
      put("lane-run dot", `M${x(lane)} 50h0`);
    }
    put("lane-wake dot", `M${WAKE} 50h0`);
  });
  return { rows, most };
}

// The drawing of a row. `empty` is an empty drawing of the document.
export function drawn(empty, paths, most) {
  const svg = empty.cloneNode(false);
  const wide = x(most) + 8;
  svg.removeAttribute("id");
  svg.removeAttribute("hidden");
  svg.setAttribute("viewBox", `0 0 ${wide} 100`);
  svg.setAttribute("width", wide);
  // Dots lie above lines.
  for (const [kind, d] of [...paths].sort(([a], [b]) => a.endsWith("dot") - b.endsWith("dot"))) {
    const path = document.createElementNS(empty.namespaceURI, "path");
    path.setAttribute("class", kind);
    path.setAttribute("d", d);
    path.setAttribute("vector-effect", "non-scaling-stroke");
    svg.append(path);
  }
  return svg;
}
