'use strict';
(() => {
  const STEP = 200; // rows that are drawn at once

  const make = (name, className, text) => {
    const e = document.createElement(name);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const button = (className, text, act) => {
    const b = make('button', className, text);
    b.type = 'button';
    b.addEventListener('click', act);
    return b;
  };
  const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
  const moment = (ms) => new Date(ms).toISOString().replace('T', ' ').replace(/\.\d+Z$/, ' UTC');
  const isEmpty = (value) => value === null || value === '';

  // A list draws the first rows of a long table, and searches and sorts all of them.
  class List {
    constructor(data, box) {
      Object.assign(this, { one: data.one, many: data.many, all: data.rows, sorted: data.rows });
      this.columns = data.columns.map((c, at) => ({ ...c, at }));
      this.shown = this.columns.filter((c) => c.shown);
      this.table = box.querySelector('table');
      this.body = box.querySelector('tbody');
      this.more = box.querySelector('.more');
      this.next = box.querySelector('.next-rows');
      this.next.addEventListener('click', () => this.draw(this.drawn + 5 * STEP));
      this.menus = [];
      this.tools(box.querySelector('.tools'));
      this.heads();
      box.classList.add('live');
      this.refresh();
    }
    text(row, c) {
      const value = row[c.at];
      if (isEmpty(value)) return '';
      return c.time ? moment(value) : c.number ? number(value) : value;
    }
    tools(tools) {
      const label = make('label', 'search', `Search the ${this.many}`);
      this.search = make('input');
      this.search.type = 'search';
      this.search.autocomplete = 'off';
      this.search.spellcheck = false;
      this.search.placeholder = 'path, id, state, reason … all words must match';
      this.search.addEventListener('input', () => this.refresh());
      label.append(this.search);
      tools.append(label);
      for (const c of this.columns.filter((c) => c.facet)) {
        const counts = new Map();
        for (const row of this.all) counts.set(row[c.at], (counts.get(row[c.at]) || 0) + 1);
        if (counts.size < 2) continue;
        const select = make('select');
        const words = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
        select.append(new Option('all', ''), ...words.map((word, i) => new Option(`${word || '(none)'} (${number(counts.get(word))})`, String(i))));
        select.addEventListener('change', () => this.refresh());
        const name = make('label', '', c.label);
        name.append(select);
        tools.append(name);
        this.menus.push({ c, select, words });
      }
      this.said = make('output');
      this.said.setAttribute('aria-live', 'polite');
      tools.append(this.said);
      tools.hidden = this.all.length < 6;
    }
    heads() {
      const ths = [...this.table.querySelectorAll('thead th')];
      this.shown.forEach((c, i) => {
        ths[i].replaceChildren(button('', c.label, () => this.sort(c, ths[i], ths)));
        ths[i].setAttribute('aria-sort', 'none');
      });
    }
    // sort puts rows without a value last.
    sort(c, th, ths) {
      const up = th.getAttribute('aria-sort') !== 'ascending';
      for (const other of ths) other.setAttribute('aria-sort', 'none');
      th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const full = this.all.filter((row) => !isEmpty(row[c.at]));
      full.sort((a, b) => (a[c.at] < b[c.at] ? -1 : a[c.at] > b[c.at] ? 1 : 0));
      if (!up) full.reverse();
      this.sorted = full.concat(this.all.filter((row) => isEmpty(row[c.at])));
      this.refresh();
    }
    refresh() {
      const terms = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const chosen = this.menus.filter((m) => m.select.value !== '').map((m) => [m.c.at, m.words[Number(m.select.value)]]);
      if (terms.length > 0 && !this.texts) {
        this.texts = new Map(this.all.map((row) => [row, row.filter((v) => typeof v === 'string').join('\n').toLowerCase()]));
      }
      this.rows = this.sorted.filter((row) => chosen.every(([at, word]) => row[at] === word) && terms.every((term) => this.texts.get(row).includes(term)));
      const all = `${number(this.all.length)} ${this.all.length === 1 ? this.one : this.many}`;
      this.said.textContent = this.rows.length === this.all.length ? all : `${number(this.rows.length)} of ${all}`;
      this.draw(STEP);
    }
    draw(count) {
      this.drawn = Math.min(count, this.rows.length);
      this.body.replaceChildren(...this.rows.slice(0, this.drawn).map((row) => this.row(row)));
      const rest = this.drawn < this.rows.length;
      this.more.textContent = rest ? `The first ${number(this.drawn)} of ${number(this.rows.length)}; the file has all.` : '';
      this.next.hidden = !rest;
    }
    row(row) {
      const tr = make('tr');
      this.shown.forEach((c, k) => {
        const text = this.text(row, c);
        const td = make('td', `c-${c.name}${c.number || c.time ? ' num' : ''}`, k === 0 ? undefined : text);
        td.dataset.label = c.label;
        if (k === 0) td.append(button('open', text, () => this.open(row)));
        if (text.length > 24) td.title = text;
        tr.append(td);
      });
      return tr;
    }
    open(row) {
      const dialog = document.getElementById('detail');
      dialog.querySelector('h2').textContent = this.text(row, this.columns[0]);
      const dl = dialog.querySelector('dl');
      dl.replaceChildren();
      for (const c of this.columns.slice(1)) {
        const text = this.text(row, c);
        if (text !== '') dl.append(make('dt', '', c.label), make('dd', '', text));
      }
      dialog.showModal();
    }
  }

  document.querySelector('#detail .close').addEventListener('click', () => document.getElementById('detail').close());
  for (const data of JSON.parse(document.getElementById('lists').textContent)) {
    new List(data, document.querySelector(`[data-list="${data.id}"]`));
  }
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
