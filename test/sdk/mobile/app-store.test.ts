import { expect, test } from 'vitest';
import { isText } from '../../../sdk/core/guards.js';
import { AppStore } from '../../../sdk/mobile/src/app-store.js';

test('a value that was written before the storage was read stays, in memory and on the device', async () => {
  const kept = new Map([
    ['_svc_consent:a', '"old"'],
    ['_svc_consent:b', '"old"'],
    ['_svc_consent:journal', JSON.stringify({ a: '"unfinished"', b: '"unfinished"' })],
  ]);
  const store = new AppStore({
    keys: async () => [...kept.keys()],
    get: async (name) => kept.get(name) ?? null,
    set: async (name, text) => void kept.set(name, text),
    remove: async (name) => void kept.delete(name),
  });
  const loaded = store.load();
  store.write('a', 'new');
  await loaded;
  await store.settled();
  expect(['a', 'b'].map((name) => store.read(name, isText))).toEqual(['new', 'unfinished']);
  expect(['a', 'b'].map((name) => kept.get(`_svc_consent:${name}`))).toEqual(['"new"', '"unfinished"']);
});

test('a value that the device cannot read hides no other one', async () => {
  const kept = new Map([
    ['_svc_consent:queue:1', '"larger than a row that Android reads"'],
    ['_svc_consent:visitor', '"ann"'],
  ]);
  const store = new AppStore({
    keys: async () => [...kept.keys()],
    get: async (name) => {
      if (name.includes('queue')) throw new Error('Row too big to fit into CursorWindow');
      return kept.get(name) ?? null;
    },
    set: async (name, text) => void kept.set(name, text),
    remove: async (name) => void kept.delete(name),
  });
  await store.load();
  expect(store.read('visitor', isText)).toBe('ann');
  expect(store.names('queue:')).toEqual([]);
});
