// Owns the drawing of the network on a canvas: where it is looked at from, what is drawn at which size, what lights up. It knows arrays
// and colours, and nothing of the brain.

const NONE = 255;
// What is drawn while the picture moves; at rest all is.
const MOVING = { nodes: 8000, edges: 4000, labels: 20 };
const RESTING = { nodes: 200000, edges: 60000, labels: 70 };
const GLOW_MS = 2600;
const REST_MS = 140;
const TWEEN_MS = 500;
// Most salient neurons in sight that are named wherever there is room, and how far from them.
const HUBS = 10;
const FAR = [14, 26, 40, 56, 76, 100, 130, 170];
// How far a key moves the picture, pixels.
const STEP = 60;

// The bytes of `GET /network` as arrays over them, without a copy.
export function read(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let at = 4 + length;
  const take = (kind, count) => {
    const array = new kind(buffer, at, count);
    at += array.byteLength;
    return array;
  };
  const { nodes: n, edges: m } = head;
  return {
    ...head,
    x: take(Float32Array, n),
    y: take(Float32Array, n),
    group: take(Uint32Array, n),
    from: take(Uint32Array, m),
    to: take(Uint32Array, m),
    salience: take(Uint16Array, n),
    weight: take(Uint16Array, m),
    kind: take(Uint8Array, n),
    mark: take(Uint8Array, n),
    origin: take(Uint8Array, n),
    link: take(Uint8Array, m),
    change: take(Uint8Array, m),
  };
}

export class Drawing {
  #canvas;
  #pen;
  #data = null;
  #class = new Uint16Array(0);
  #colours = ["#888"];
  #view = { scale: 40, x: 0, y: 0 };
  #size = { width: 1, height: 1 };
  #px = new Float32Array(0);
  #py = new Float32Array(0);
  #lit = new Map();
  #places = new Map();
  #tween = null;
  #asked = 0;
  #rest = 0;
  #isMoving = false;
  // Whether a person looks from a place of her own: until then the whole is in sight, whatever becomes of it.
  #isHers = false;
  #chosen = -1;
  #over = -1;
  #style = {};
  #sizes = new Float32Array(0);
  #widths = new Map();
  // Places of all neurons, the most salient first.
  #salient = new Uint32Array(0);
  #calm = matchMedia("(prefers-reduced-motion: reduce)");
  #onUnnamed;
  // `onPick` is told the place of a neuron that was pressed; `onUnnamed` the places of those in sight that have no name yet.
  constructor(canvas, onPick, onUnnamed) {
    this.#canvas = canvas;
    this.#onUnnamed = onUnnamed;
    this.#pen = canvas.getContext("2d");
    new ResizeObserver(() => this.#resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.restyle());
    this.#listen(onPick);
    this.restyle();
  }

  // Shows other data. Neurons that are in both glide to their new places.
  show(data, fit) {
    const before = this.#data;
    const old = new Map();
    if (before && !fit && !this.#calm.matches && data.nodes <= MOVING.nodes) {
      before.ids.forEach((id, at) => old.set(id, at));
      const from = data.ids.map((id) => old.get(id) ?? -1);
      const place = (list, now) => Float32Array.from(from, (at, node) => (at < 0 ? now[node] : list[at]));
      this.#tween = { x: place(before.x, data.x), y: place(before.y, data.y), begins: performance.now() };
    } else {
      this.#tween = null;
    }
    this.#data = data;
    this.#places = new Map(data.ids.map((id, at) => [id, at]));
    this.#sizes = Float32Array.from(data.salience, (salience) => 2.6 + 5.4 * Math.sqrt(salience / 65535));
    this.#widths.clear();
    this.#salient = Uint32Array.from(data.ids.keys()).sort((a, b) => data.salience[b] - data.salience[a] || a - b);
    [this.#px, this.#py] = [new Float32Array(data.nodes), new Float32Array(data.nodes)];
    [this.#over, this.#chosen] = [-1, -1];
    if (fit || !before || !this.#isHers) this.fit();
    else this.ask();
  }

  // Classes of the neurons, and a colour for each class.
  colour(classes, colours) {
    this.#class = classes;
    this.#colours = colours;
    this.ask();
  }

  restyle() {
    const style = getComputedStyle(this.#canvas);
    const of = (name) => style.getPropertyValue(name).trim();
    this.#style = { text: of("--text"), ground: of("--ground"), edge: of("--faint"), bad: of("--bad"), accent: of("--accent"), lit: of("--lit"), font: style.fontFamily };
    this.ask();
  }

  // Neurons light up. Those that are not in the picture are passed over; says how many are.
  light(ids) {
    const now = performance.now();
    let seen = 0;
    for (const id of ids) {
      if (!this.#places.has(id)) continue;
      this.#lit.set(id, now);
      seen += 1;
    }
    this.ask();
    return seen;
  }

  choose(id) {
    this.#chosen = this.#places.get(id) ?? -1;
    this.ask();
  }

  fit() {
    this.#isHers = false;
    const data = this.#data;
    if (!data?.nodes) return this.ask();
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < data.nodes; i += 1) {
      left = Math.min(left, data.x[i]);
      right = Math.max(right, data.x[i]);
      top = Math.min(top, data.y[i]);
      bottom = Math.max(bottom, data.y[i]);
    }
    const { width, height } = this.#size;
    const scale = Math.min((width - 80) / Math.max(right - left, 1), (height - 60) / Math.max(bottom - top, 1), 110);
    this.#view = { scale: Math.max(scale, 0.2), x: (left + right) / 2, y: (top + bottom) / 2 };
    this.ask();
  }

  // About a place of the screen; by itself about the chosen neuron, else about the middle of those in sight.
  zoom(factor, px = null, py = null) {
    if (px === null) [px, py] = this.#aim();
    const view = this.#view;
    const [x, y] = [view.x + (px - this.#size.width / 2) / view.scale, view.y + (py - this.#size.height / 2) / view.scale];
    view.scale = Math.min(Math.max(view.scale * factor, 0.2), 400);
    view.x = x - (px - this.#size.width / 2) / view.scale;
    view.y = y - (py - this.#size.height / 2) / view.scale;
    this.#move();
  }

  #aim() {
    const { width, height } = this.#size;
    let [sx, sy, count] = [0, 0, 0];
    const isInSight = (i) => this.#px[i] >= 0 && this.#py[i] >= 0 && this.#px[i] <= width && this.#py[i] <= height;
    const all = this.#chosen >= 0 && isInSight(this.#chosen) ? [this.#chosen] : this.#salient.filter(isInSight);
    for (const i of all) [sx, sy, count] = [sx + this.#px[i], sy + this.#py[i], count + 1];
    return count ? [sx / count, sy / count] : [width / 2, height / 2];
  }

  pan(dx, dy) {
    this.#view.x -= dx / this.#view.scale;
    this.#view.y -= dy / this.#view.scale;
    this.#move();
  }

  // Asks for one frame.
  ask() {
    this.#asked ||= requestAnimationFrame((now) => this.#frame(now));
  }

  #move() {
    this.#isHers = true;
    this.#isMoving = true;
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      this.#isMoving = false;
      this.ask();
    }, REST_MS);
    this.ask();
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    if (!width || !height) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    [this.#canvas.width, this.#canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.#size = { width, height, ratio };
    if (this.#isHers) this.ask();
    else this.fit();
  }

  #frame(now) {
    this.#asked = 0;
    const [pen, data, { width, height, ratio = 1 }] = [this.#pen, this.#data, this.#size];
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = this.#style.ground;
    pen.fillRect(0, 0, width, height);
    if (!data) return;
    const again = this.#project(now);
    const most = this.#isMoving ? MOVING : RESTING;
    this.#edges(pen, most.edges);
    this.#nodes(pen, most.nodes);
    const glows = this.#glow(pen, now);
    this.#labels(pen);
    if (again || glows) this.ask();
  }

  // Places on the screen. True while neurons still glide.
  #project(now) {
    const { scale, x: cx, y: cy } = this.#view;
    const [data, px, py] = [this.#data, this.#px, this.#py];
    const [dx, dy] = [this.#size.width / 2 - cx * scale, this.#size.height / 2 - cy * scale];
    const part = this.#tween ? Math.min((now - this.#tween.begins) / TWEEN_MS, 1) : 1;
    if (part >= 1) {
      this.#tween = null;
      for (let i = 0; i < data.nodes; i += 1) {
        px[i] = data.x[i] * scale + dx;
        py[i] = data.y[i] * scale + dy;
      }
      return false;
    }
    const ease = part * part * (3 - 2 * part);
    for (let i = 0; i < data.nodes; i += 1) {
      px[i] = (this.#tween.x[i] + (data.x[i] - this.#tween.x[i]) * ease) * scale + dx;
      py[i] = (this.#tween.y[i] + (data.y[i] - this.#tween.y[i]) * ease) * scale + dy;
    }
    return true;
  }

  // Lines in a few strokes each: by weight, and apart for those that hold back.
  #edges(pen, most) {
    const [data, px, py] = [this.#data, this.#px, this.#py];
    const { width, height } = this.#size;
    const inhibits = data.links.indexOf("inhibits");
    const bands = [[], [], [], []];
    const count = Math.min(data.edges, most);
    const near = this.#chosen >= 0 ? this.#chosen : this.#over;
    const own = [];
    for (let e = 0; e < count; e += 1) {
      const [a, b] = [data.from[e], data.to[e]];
      const [ax, ay, bx, by] = [px[a], py[a], px[b], py[b]];
      if ((ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > width && bx > width) || (ay > height && by > height)) continue;
      if (a === near || b === near) own.push(e);
      else bands[data.link[e] === inhibits ? 3 : data.weight[e] > 40000 ? 2 : data.weight[e] > 16000 ? 1 : 0].push(e);
    }
    const thin = count > 10000 ? 0.3 : count > 3000 ? 0.5 : 1;
    const stroke = (list, colour, alpha, wide) => {
      if (!list.length) return;
      pen.strokeStyle = colour;
      pen.globalAlpha = alpha;
      pen.lineWidth = wide;
      pen.beginPath();
      for (const e of list) {
        const [a, b] = [data.from[e], data.to[e]];
        pen.moveTo(px[a], py[a]);
        pen.lineTo(px[b], py[b]);
      }
      pen.stroke();
    };
    stroke(bands[0], this.#style.edge, 0.22 * thin, 1);
    stroke(bands[1], this.#style.edge, 0.4 * thin, 1);
    stroke(bands[2], this.#style.edge, 0.6 * thin, count > 3000 ? 1 : 1.6);
    pen.setLineDash([4, 3]);
    stroke(bands[3], this.#style.bad, 0.6, 1.2);
    pen.setLineDash([]);
    stroke(own, this.#style.accent, 0.9, 1.8);
    pen.globalAlpha = 1;
  }

  #radius(i) {
    const size = Math.min(Math.max(this.#view.scale / 26, 0.2), 1.5);
    return Math.max(size * this.#sizes[i], 0.9);
  }

  #nodes(pen, most) {
    const [data, px, py] = [this.#data, this.#px, this.#py];
    const { width, height } = this.#size;
    const count = Math.min(data.nodes, most);
    const lists = this.#colours.map(() => []);
    for (let i = 0; i < count; i += 1) {
      if (px[i] < -12 || py[i] < -12 || px[i] > width + 12 || py[i] > height + 12) continue;
      (lists[this.#class[i]] ?? lists.at(-1)).push(i);
    }
    lists.forEach((list, at) => {
      if (!list.length) return;
      pen.fillStyle = this.#colours[at];
      // Small dots as squares: nobody sees the corners, and they cost a tenth.
      pen.beginPath();
      for (const i of list) {
        const r = this.#radius(i);
        if (r < 2.4) {
          pen.rect(px[i] - r, py[i] - r, 2 * r, 2 * r);
        } else {
          pen.moveTo(px[i] + r, py[i]);
          pen.arc(px[i], py[i], r, 0, 2 * Math.PI);
        }
      }
      pen.fill();
    });
    for (const i of [this.#over, this.#chosen]) {
      if (i < 0 || i >= data.nodes) continue;
      pen.strokeStyle = this.#style.text;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(px[i], py[i], this.#radius(i) + 3, 0, 2 * Math.PI);
      pen.stroke();
    }
  }

  // Rings around what was touched lately. True while any is to be seen.
  #glow(pen, now) {
    for (const [id, since] of this.#lit) {
      const part = (now - since) / GLOW_MS;
      const i = this.#places.get(id);
      if (part >= 1) {
        this.#lit.delete(id);
        continue;
      }
      if (i === undefined) continue;
      const grows = this.#calm.matches ? 6 : 4 + 14 * part;
      pen.strokeStyle = this.#style.lit;
      pen.globalAlpha = this.#calm.matches ? 1 : 1 - part;
      pen.lineWidth = 3;
      pen.beginPath();
      pen.arc(this.#px[i], this.#py[i], this.#radius(i) + grows, 0, 2 * Math.PI);
      pen.stroke();
      pen.globalAlpha = 1;
    }
    return this.#lit.size > 0;
  }

  // Names of the most salient neurons in sight, where there is room: over no other neuron, and over no other name.
  #labels(pen) {
    const [data, px, py] = [this.#data, this.#px, this.#py];
    const { width, height } = this.#size;
    const most = Math.min(data.nodes, (this.#isMoving ? MOVING : RESTING).nodes);
    const dots = new Cells();
    for (let i = 0; i < most; i += 1) {
      if (px[i] > -20 && py[i] > -20 && px[i] < width + 20 && py[i] < height + 20) dots.add(i, px[i], py[i]);
    }
    const taken = [];
    pen.font = `12px ${this.#style.font}`;
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    const meets = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    const isCovered = (box, i) => {
      const r = this.#radius(i);
      return meets(box, [px[i] - r, py[i] - r, px[i] + r, py[i] + r]);
    };
    const isFree = (box, own) => {
      const isInside = box[0] > 0 && box[2] < width && box[1] > 0 && box[3] < height;
      return isInside && !taken.some((other) => meets(box, other)) && !dots.some(box, (i) => i !== own && isCovered(box, i));
    };
    const isInSight = (i) => px[i] >= 0 && py[i] >= 0 && px[i] <= width && py[i] <= height;
    const unnamed = [];
    const name = (i, always, isHub) => {
      if (!isInSight(i)) return;
      if (data.labels[i] === undefined) {
        unnamed.push(i);
        if (!always) return;
      }
      const text = label(data, i, always ? 60 : 24);
      let wide = this.#widths.get(text);
      if (wide === undefined) this.#widths.set(text, (wide = pen.measureText(text).width));
      const [x, y, gap] = [px[i], py[i], this.#radius(i) + 5];
      const at = (left, middle) => [left - 2, middle - 8, left + wide + 2, middle + 8];
      const places = (far) => [at(x + far, y), at(x - wide / 2, y + far + 8), at(x - wide / 2, y - far - 8), at(x - far - wide, y)];
      // A hub has a line to a name that stands further away.
      let [box, far] = [undefined, 0];
      for (far of isHub ? [0, ...FAR] : [0]) {
        box = places(gap + far).find((place) => isFree(place, i));
        if (box) break;
      }
      // What a person points at is always named, in sight.
      box ??= always ? at(Math.max(4, Math.min(x + gap, width - wide - 4)), y) : null;
      if (!box) return;
      taken.push(box);
      if (far) {
        pen.strokeStyle = this.#style.text;
        pen.lineWidth = 1;
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(Math.max(box[0], Math.min(x, box[2])), Math.max(box[1], Math.min(y, box[3])));
        pen.stroke();
      }
      pen.strokeStyle = this.#style.ground;
      pen.lineWidth = 4;
      pen.strokeText(text, box[0] + 2, box[1] + 8);
      pen.fillStyle = this.#style.text;
      pen.fillText(text, box[0] + 2, box[1] + 8);
    };
    if (this.#chosen >= 0) name(this.#chosen, true);
    if (this.#over >= 0 && this.#over !== this.#chosen) name(this.#over, true);
    let left = this.#isMoving ? 200 : 2000;
    let hubs = this.#isMoving ? HUBS : 0;
    const room = this.#isMoving ? MOVING.labels : RESTING.labels;
    for (const i of this.#salient) {
      if (taken.length >= room || left <= 0) break;
      if (i === this.#chosen || i === this.#over || !isInSight(i)) continue;
      name(i, false, hubs < HUBS);
      hubs += 1;
      left -= 1;
    }
    if (unnamed.length && !this.#isMoving) this.#onUnnamed(unnamed);
  }

  // The neuron at a place of the screen; -1: none.
  at(x, y) {
    let [best, near] = [-1, 15 * 15];
    for (let i = 0; i < (this.#data?.nodes ?? 0); i += 1) {
      const [dx, dy] = [this.#px[i] - x, this.#py[i] - y];
      const far = dx * dx + dy * dy;
      if (far < near) [best, near] = [i, far];
    }
    return best;
  }

  #listen(onPick) {
    const canvas = this.#canvas;
    const fingers = new Map();
    let dragged = 0;
    const place = (event) => [event.offsetX, event.offsetY];
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, place(event));
      if (fingers.size === 1) dragged = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      const before = fingers.get(event.pointerId);
      if (!before) {
        const over = this.at(x, y);
        if (over !== this.#over) {
          this.#over = over;
          canvas.classList.toggle("over", over >= 0);
          this.ask();
        }
        return;
      }
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const apart = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
        this.zoom(apart([x, y]) / apart(before), other[0], other[1]);
        this.pan((x - before[0]) / 2, (y - before[1]) / 2);
      } else {
        this.pan(x - before[0], y - before[1]);
      }
      dragged += Math.abs(x - before[0]) + Math.abs(y - before[1]);
      fingers.set(event.pointerId, [x, y]);
    });
    const lift = (event) => {
      const was = fingers.delete(event.pointerId);
      if (was && event.type === "pointerup" && dragged < 6 && !fingers.size) {
        const picked = this.at(...place(event));
        if (picked >= 0) onPick(picked);
      }
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("pointerleave", () => {
      this.#over = -1;
      this.ask();
    });
    const KEYS = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (KEYS[event.key]) this.pan(...KEYS[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.4);
      else if (event.key === "-") this.zoom(1 / 1.4);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...place(event));
    }, { passive: false });
  }
}

// Places of neurons by the cells of a grid, so that those below a label are found without looking at all of them.
class Cells {
  #size = 48;
  #cells = new Map();

  add(i, x, y) {
    const cell = Math.floor(x / this.#size) + 4096 * Math.floor(y / this.#size);
    const list = this.#cells.get(cell);
    if (list) list.push(i);
    else this.#cells.set(cell, [i]);
  }

  // Whether one of those in or near a box is as `test` says. No neuron reaches further than a quarter of a cell.
  some([left, top, right, bottom], test) {
    const near = this.#size / 4;
    const cell = (at) => Math.floor(at / this.#size);
    for (let y = cell(top - near); y <= cell(bottom + near); y += 1) {
      for (let x = cell(left - near); x <= cell(right + near); x += 1) {
        if (this.#cells.get(x + 4096 * y)?.some(test)) return true;
      }
    }
    return false;
  }
}

// The name of a neuron, cut.
export function label(data, i, most) {
  const text = data.labels[i] ?? data.ids[i];
  return text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text;
}

export { NONE };
