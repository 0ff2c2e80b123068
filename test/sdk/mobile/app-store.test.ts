import { expect, onTestFinished, test, vi } from 'vitest';
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

const HANGS = (): Promise<never> => new Promise(() => undefined);

test.each(['keys', 'get', 'set', 'remove'] as const)(
  'a storage whose %s never answers delays nothing for ever: everything is in memory, and that is said once',
  async (hanging) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const said = vi.fn();
    const store = new AppStore(
      {
        keys: async () => ['_svc_consent:a'],
        get: async () => '"kept"',
        set: async () => undefined,
        remove: async () => undefined,
        [hanging]: HANGS,
      },
      said,
    );
    const waits = async (wait: Promise<void>): Promise<void> => {
      await vi.runAllTimersAsync();
      await wait;
    };
    await waits(store.load());
    store.write('b', 'one');
    store.remove('a');
    await waits(store.settled());
    store.write('c', 'two');
    await waits(store.settled());
    expect(store.names('')).toEqual(['b', 'c']);
    expect(said).toHaveBeenCalledOnce();
    // It is not asked again, so that nothing waits a second time.
    expect(vi.getTimerCount()).toBe(0);
  },
);

test('a storage that refuses is asked again', async () => {
  const said = vi.fn();
  const set = vi.fn(async () => Promise.reject(new Error('full')));
  const store = new AppStore({ keys: async () => [], get: async () => null, set, remove: async () => undefined }, said);
  for (const name of ['a', 'b']) {
    store.write(name, 'x');
    await store.settled();
  }
  expect(set).toHaveBeenCalledTimes(2);
  expect(said).not.toHaveBeenCalled();
});
