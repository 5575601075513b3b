'use strict';
(() => {
  const ROW = 30;        // the same as in page.css
  const OVERSCAN = 8;    // rows drawn beyond the visible ones
  const PAPER = 300;     // rows in a printout
  const lists = new Map();

  const make = (name, className, text) => {
    const e = document.createElement(name);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const pad = (n) => String(n).padStart(2, '0');
  const moment = (ms) => {
    const t = new Date(ms);
    if (isNaN(t)) return '';
    return `${t.getUTCFullYear()}-${pad(t.getUTCMonth() + 1)}-${pad(t.getUTCDate())} ${pad(t.getUTCHours())}:${pad(t.getUTCMinutes())}:${pad(t.getUTCSeconds())} UTC`;
  };
  const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

  const count = (n) => {
    const a = new Uint32Array(n);
    for (let i = 0; i < n; i++) a[i] = i;
    return a;
  };
  const less = (x, y) => (x < y ? -1 : x > y ? 1 : 0);

  // A column has texts or numbers. It finds the rows that contain a term, and sorts the rows.
  class Column {
    constructor(c, k, rows) {
      this.n = rows.length;
      Object.assign(this, { name: c.name, label: c.label, shown: !!c.shown, facet: !!c.facet, time: !!c.time });
      const values = rows.map((row) => row[k]);
      if (c.number || c.time) {
        this.numbers = values;
      } else if (c.facet) {
        const index = new Map();
        this.words = [];
        this.which = Uint32Array.from(values, (v) => {
          let at = index.get(v);
          if (at === undefined) {
            at = this.words.length;
            index.set(v, at);
            this.words.push(v);
          }
          return at;
        });
      } else {
        this.texts = values;
        this.lines = values.join('\n');
      }
    }
    text(i) {
      if (this.texts) return this.texts[i] || '';
      if (this.which) return this.words[this.which[i]];
      const v = this.numbers[i];
      if (v === null) return '';
      return this.time ? moment(v) : number(v);
    }
    // find marks the rows that contain a term. It searches all texts at once.
    find(term, mark) {
      if (this.which) {
        const hit = this.words.map((w) => w.toLowerCase().includes(term));
        if (hit.includes(true)) for (let i = 0; i < this.n; i++) if (hit[this.which[i]]) mark[i] = 1;
      } else if (this.texts && this.n) {
        if (!this.small) {
          this.small = this.lines.toLowerCase();
          this.starts = new Uint32Array(this.n + 1);
          for (let i = 1, at = 0; i <= this.n; i++) {
            const end = this.small.indexOf('\n', at);
            this.starts[i] = at = end < 0 ? this.small.length + 1 : end + 1;
          }
        }
        let row = 0;
        for (let at = this.small.indexOf(term); at >= 0; at = this.small.indexOf(term, this.starts[row])) {
          while (this.starts[row + 1] <= at) row++;
          mark[row++] = 1;
          if (row >= this.n) break;
        }
      }
    }
    // sorted returns the rows in the order of their values, and the rows without a value. It sorts only once.
    sorted() {
      if (this.order) return this.order;
      const value = this.numbers ? (i) => this.numbers[i] : this.which ? null : (i) => this.texts[i];
      const full = [], empty = [];
      if (this.which) {
        const byWord = this.words.map(() => []);
        for (let i = 0; i < this.n; i++) byWord[this.which[i]].push(i);
        this.words.map((word, at) => [word, byWord[at]]).sort((a, b) => less(a[0], b[0])).forEach(([word, rows]) => {
          const to = word === '' ? empty : full;
          for (const i of rows) to.push(i);
        });
      } else {
        for (let i = 0; i < this.n; i++) (value(i) === null || value(i) === '' ? empty : full).push(i);
        const v = this.numbers || this.texts;
        full.sort(this.numbers ? (a, b) => v[a] - v[b] : (a, b) => less(v[a], v[b]));
      }
      this.order = { full, empty };
      return this.order;
    }
  }

  // A list draws the visible rows of a long table, and searches and sorts all rows.
  class List {
    constructor(data, box) {
      this.one = data.one;
      this.many = data.many;
      this.n = data.rows.length;
      this.columns = data.columns.map((c, k) => new Column(c, k, data.rows));
      this.shown = this.columns.filter((c) => c.shown);
      this.box = box;
      this.scroll = box.querySelector('.scroll');
      this.table = box.querySelector('table');
      this.body = box.querySelector('tbody');
      this.more = box.querySelector('.more');
      this.order = count(this.n); // all rows as sorted
      this.rows = this.order; // the rows that match the search
      this.facets = new Map();
      this.pool = [];
      this.from = -1;
      this.sorted = null;
      this.tools();
      this.heads();
      this.body.replaceChildren();
      this.above = this.gap();
      this.below = this.gap();
      this.body.append(this.above, this.below);
      this.more.textContent = '';
      box.classList.add('live');
      this.scroll.addEventListener('scroll', () => this.draw(), { passive: true });
      this.body.addEventListener('click', (e) => {
        const row = e.target.closest('tr');
        if (row && row.dataset.at) this.open(Number(row.dataset.at));
      });
      this.body.addEventListener('keydown', (e) => this.key(e));
      this.refresh();
    }
    gap() {
      const tr = make('tr', 'gap');
      tr.setAttribute('aria-hidden', 'true');
      const td = make('td');
      tr.append(td);
      return tr;
    }
    tools() {
      const tools = this.box.querySelector('.tools');
      const label = make('label', 'search', `Search the ${this.many}`);
      this.search = make('input');
      this.search.type = 'search';
      this.search.autocomplete = 'off';
      this.search.spellcheck = false;
      this.search.placeholder = 'path, id, state, reason … all words must match';
      label.append(this.search);
      tools.append(label);
      for (const c of this.columns) {
        if (!c.facet || c.words.length < 2) continue;
        const counts = new Uint32Array(c.words.length);
        for (const w of c.which) counts[w]++;
        const select = make('select');
        select.append(new Option('all', ''));
        c.words.map((word, i) => [word, i]).sort((a, b) => counts[b[1]] - counts[a[1]]).slice(0, 200).forEach(([word, i]) => {
          select.append(new Option(`${word || '(none)'} (${number(counts[i])})`, String(i)));
        });
        select.addEventListener('change', () => this.refresh());
        const name = make('label', '', c.label);
        name.append(select);
        tools.append(name);
        this.facets.set(c, select);
      }
      this.said = make('output');
      this.said.setAttribute('aria-live', 'polite');
      tools.append(this.said);
      tools.hidden = this.n < 6;
      let asked = 0;
      this.search.addEventListener('input', () => {
        cancelAnimationFrame(asked);
        asked = requestAnimationFrame(() => this.refresh());
      });
    }
    heads() {
      const ths = this.table.querySelectorAll('thead th');
      this.shown.forEach((c, i) => {
        const button = make('button', '', c.label);
        button.type = 'button';
        button.addEventListener('click', () => this.sort(c, ths[i], ths));
        ths[i].replaceChildren(button);
        ths[i].setAttribute('aria-sort', 'none');
      });
    }
    sort(c, th, ths) {
      const up = !(this.sorted && this.sorted.c === c && this.sorted.up);
      this.sorted = { c, up };
      for (const other of ths) other.setAttribute('aria-sort', 'none');
      th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const { full, empty } = c.sorted();
      this.order = Uint32Array.from((up ? full : full.slice().reverse()).concat(empty));
      this.refresh();
    }
    refresh() {
      const terms = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const only = [];
      for (const [c, select] of this.facets) if (select.value !== '') only.push([c.which, Number(select.value)]);
      if (terms.length === 0 && only.length === 0) {
        this.rows = this.order;
      } else {
        const marks = terms.map((term) => {
          const mark = new Uint8Array(this.n);
          for (const c of this.columns) c.find(term, mark);
          return mark;
        });
        this.rows = this.order.filter((i) => {
          for (const [which, w] of only) if (which[i] !== w) return false;
          for (const mark of marks) if (!mark[i]) return false;
          return true;
        });
      }
      const all = `${number(this.n)} ${this.n === 1 ? this.one : this.many}`;
      this.said.textContent = this.rows.length === this.n ? all : `${number(this.rows.length)} of ${all}`;
      this.table.setAttribute('aria-rowcount', String(this.rows.length + 1));
      this.scroll.scrollTop = 0;
      this.from = -1;
      this.draw();
    }
    // draw shows the visible rows, or the given ones.
    draw(from, count) {
      if (from === undefined) {
        from = Math.max(0, Math.floor(this.scroll.scrollTop / ROW) - OVERSCAN);
        count = Math.ceil((this.scroll.clientHeight || 600) / ROW) + 2 * OVERSCAN;
      }
      const to = Math.min(this.rows.length, from + count);
      from = Math.min(from, to);
      if (from === this.from && to === this.to) return;
      const focus = this.body.contains(document.activeElement) ? document.activeElement.closest('tr').dataset.at : null;
      this.from = from;
      this.to = to;
      while (this.pool.length < to - from) this.pool.push(this.row());
      const rows = this.pool.slice(0, to - from);
      rows.forEach((tr, k) => this.fill(tr, from + k));
      this.above.firstChild.style.height = `${from * ROW}px`;
      this.below.firstChild.style.height = `${(this.rows.length - to) * ROW}px`;
      // Move the focus first. If the focused element is removed, the browser
      // lays out the rest, and scrolls to its end.
      if (focus !== null) this.scroll.focus({ preventScroll: true });
      this.body.replaceChildren(this.above, ...rows, this.below);
      if (focus !== null) {
        const again = rows.find((tr) => tr.dataset.at === focus);
        if (again) again.querySelector('button').focus({ preventScroll: true });
      }
    }
    row() {
      const tr = make('tr');
      this.shown.forEach((c, k) => {
        const td = make('td', `c-${c.name}${c.numbers ? ' num' : ''}`);
        if (k === 0) {
          const button = make('button', 'open');
          button.type = 'button';
          td.append(button);
        }
        tr.append(td);
      });
      return tr;
    }
    fill(tr, at) {
      const i = this.rows[at];
      tr.dataset.at = String(at);
      tr.setAttribute('aria-rowindex', String(at + 2));
      this.shown.forEach((c, k) => {
        const cell = k === 0 ? tr.cells[0].firstChild : tr.cells[k];
        const text = c.text(i);
        if (cell.textContent !== text) cell.textContent = text;
        tr.cells[k].title = text.length > 24 ? text : '';
      });
    }
    key(e) {
      const row = e.target.closest('tr');
      if (!row || !row.dataset.at) return;
      const at = Number(row.dataset.at);
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.rows.length - 1 }[e.key];
      if (to === undefined || to < 0 || to >= this.rows.length) return;
      e.preventDefault();
      this.reveal(to);
    }
    // reveal scrolls to a row and focuses it.
    reveal(at) {
      const head = this.table.tHead.offsetHeight;
      const top = at * ROW, s = this.scroll;
      if (top < s.scrollTop) s.scrollTop = top;
      else if (top + ROW + head > s.scrollTop + s.clientHeight) s.scrollTop = top + ROW + head - s.clientHeight;
      this.draw();
      const tr = this.pool.find((r) => r.isConnected && r.dataset.at === String(at));
      if (tr) tr.querySelector('button').focus({ preventScroll: true });
    }
    open(at) {
      const i = this.rows[at];
      const dialog = document.getElementById('detail');
      dialog.querySelector('h2').textContent = this.columns[0].text(i);
      const dl = dialog.querySelector('dl');
      dl.replaceChildren();
      for (const c of this.columns.slice(1)) {
        const text = c.text(i);
        if (text !== '') dl.append(make('dt', '', c.label), make('dd', '', text));
      }
      dialog.showModal();
    }
    // pick shows the rows with a word in one column, and clears the other filters.
    pick(name, word, search) {
      for (const [c, select] of this.facets) {
        const i = c.name === name ? c.words.indexOf(word) : -1;
        select.value = i < 0 ? '' : String(i);
      }
      this.search.value = search;
      this.refresh();
    }
    paper(on) {
      this.from = -1;
      if (!on) { this.more.textContent = ''; this.draw(); return; }
      this.draw(0, PAPER);
      this.above.firstChild.style.height = this.below.firstChild.style.height = '0';
      this.more.textContent = this.rows.length > PAPER ? `The first ${PAPER} of ${number(this.rows.length)}; the file has all.` : '';
    }
  }

  // sortable makes a short table of the page sortable.
  function sortable(table) {
    const ths = [...table.tHead.rows[0].cells];
    const value = (tr, k) => {
      const text = tr.cells[k].textContent.trim();
      const n = Number(text.replace(/,/g, ''));
      return text !== '' && !isNaN(n) ? n : text;
    };
    ths.forEach((th, k) => {
      if (th.tagName !== 'TH') return;
      const button = make('button', '', th.textContent);
      button.type = 'button';
      th.replaceChildren(button);
      th.setAttribute('aria-sort', 'none');
      button.addEventListener('click', () => {
        const up = th.getAttribute('aria-sort') !== 'ascending';
        ths.forEach((o) => { if (o.hasAttribute('aria-sort')) o.setAttribute('aria-sort', 'none'); });
        th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        const body = table.tBodies[0];
        const rows = [...body.rows].sort((a, b) => {
          const x = value(a, k), y = value(b, k);
          const by = typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === 'number' ? -1 : 1;
          return up ? by : -by;
        });
        body.append(...rows);
      });
    });
  }

  async function unpack() {
    const text = document.getElementById('packed').textContent;
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return JSON.parse(await new Response(stream).text());
  }

  function trouble(text) {
    const p = document.getElementById('trouble');
    p.textContent = text;
    p.hidden = false;
  }

  async function start() {
    document.querySelectorAll('table.sortable').forEach(sortable);
    document.querySelector('#detail .close').addEventListener('click', () => document.getElementById('detail').close());
    if (typeof DecompressionStream === 'undefined') {
      trouble('This browser can\u2019t unpack the long lists; the first rows of each are shown. Chromium since 86, Firefox since 113 and Safari since 16.4 can.');
      return;
    }
    for (const data of await unpack()) {
      const box = document.querySelector(`[data-list="${data.id}"]`);
      if (box) lists.set(data.id, new List(data, box));
    }
    document.querySelectorAll('a.pick').forEach((a) => a.addEventListener('click', () => {
      const records = lists.get('records');
      if (records) records.pick('outcome', a.dataset.outcome, a.dataset.search);
    }));
    addEventListener('keydown', (e) => {
      const records = lists.get('records');
      if (e.key !== '/' || e.ctrlKey || e.metaKey || e.altKey || !records || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
      e.preventDefault();
      records.search.focus();
    });
    addEventListener('beforeprint', () => lists.forEach((l) => l.paper(true)));
    addEventListener('afterprint', () => lists.forEach((l) => l.paper(false)));
    addEventListener('resize', () => lists.forEach((l) => l.draw()));
  }

  start().catch((e) => trouble(`The long lists could not be unpacked (${e.message}); the first rows of each are shown.`))
    .finally(() => { document.documentElement.dataset.ready = String(Math.round(performance.now())); });
})();
