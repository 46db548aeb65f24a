// Search, keys, themes and printing of report pages. Without it the page can still be read whole.
(() => {
  'use strict';
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const find = byId('find');
  const found = byId('found');

  /* --- themes --- */

  const isDark = () => root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;

  byId('theme').addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
  });

  /* --- folding --- */

  const folds = () => document.querySelectorAll('main details');

  const setAll = (open) => {
    for (const one of folds()) one.open = open;
  };

  byId('expand').addEventListener('click', () => setAll(true));
  byId('collapse').addEventListener('click', () => setAll(false));

  /* Open everything that an element lies in. */
  const reveal = (element) => {
    for (let at = element; at !== null; at = at.parentElement)
      if (at instanceof HTMLDetailsElement) at.open = true;
  };

  const revealTarget = () => {
    const target = location.hash.length > 1 ? byId(location.hash.slice(1)) : null;
    if (target === null) return;
    reveal(target);
    const own = target.querySelector(':scope > details');
    if (own !== null) own.open = true;
    target.scrollIntoView();
  };

  addEventListener('hashchange', revealTarget);
  revealTarget();

  let closed = [];
  addEventListener('beforeprint', () => {
    closed = [...folds()].filter((one) => !one.open);
    setAll(true);
  });
  addEventListener('afterprint', () => {
    for (const one of closed) one.open = false;
  });

  /* --- search --- */

  let entries = null;
  let hits = [];
  let at = -1;

  /* What can be found: rows and lines that say so, and boxes of drawings. */
  const collect = () => {
    const all = document.querySelectorAll('[data-find], main .vfd .box');
    return [...all].map((element) => ({ element, words: element.textContent.toLowerCase() }));
  };

  const tell = () => {
    if (find.value.trim() === '') found.textContent = '';
    else if (hits.length === 0) found.textContent = 'none';
    else found.textContent = (at + 1) + ' of ' + hits.length;
  };

  const unmark = () => {
    for (const hit of hits) hit.classList.remove('hit', 'at');
    hits = [];
    at = -1;
  };

  const go = (step) => {
    if (hits.length === 0) return;
    if (at >= 0) hits[at].classList.remove('at');
    at = (at + step + hits.length) % hits.length;
    const hit = hits[at];
    hit.classList.add('at');
    reveal(hit);
    const own = hit.querySelector(':scope > details');
    if (own !== null) own.open = true;
    hit.scrollIntoView({ block: 'center', inline: 'center' });
    tell();
  };

  /* Every word must occur. */
  const search = () => {
    unmark();
    const words = find.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
    if (words.length > 0) {
      entries ??= collect();
      hits = entries
        .filter((entry) => words.every((word) => entry.words.includes(word)))
        .map((entry) => entry.element);
    }
    for (const hit of hits) hit.classList.add('hit');
    go(1);
    tell();
  };

  const clear = () => {
    find.value = '';
    search();
  };

  let timer = 0;
  find.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(search, 120);
  });

  const searchNow = (step) => {
    clearTimeout(timer);
    if (hits.length === 0) search();
    else go(step);
  };

  byId('search').addEventListener('submit', (event) => {
    event.preventDefault();
    searchNow(1);
  });
  byId('next').addEventListener('click', () => go(1));
  byId('previous').addEventListener('click', () => go(-1));

  /* --- keys --- */

  const keys = {
    '/': () => {
      find.focus();
      find.select();
    },
    n: () => go(1),
    p: () => go(-1),
  };

  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      clear();
      find.blur();
      return;
    }
    if (event.target === find) {
      if (event.key === 'Enter' ? event.shiftKey : false) {
        event.preventDefault();
        searchNow(-1);
      }
      return;
    }
    const action = keys[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
})();
