interface Waiting<V> {
  readonly value: Promise<V | undefined>;
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Joins the look-ups that begin in one turn of the event loop. A service with many sites would otherwise
 * send one statement for each request.
 * @param load looks up distinct keys; its result lacks what does not exist
 * @returns a function that looks up one key, always after it was called; undefined if it does not
 *   exist. It rejects with the error of `load`
 */
export function joinLookUps<K, V>(
  load: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
): (key: K) => Promise<V | undefined> {
  let joined = new Map<K, Waiting<V>>();
  const lookUp = async (): Promise<void> => {
    const taken = joined;
    joined = new Map();
    try {
      const found = await load([...taken.keys()]);
      for (const [key, { resolve }] of taken) resolve(found.get(key));
    } catch (error) {
      for (const { reject } of taken.values()) reject(error);
    }
  };
  return (key) => {
    const same = joined.get(key);
    if (same !== undefined) return same.value;
    let resolve: Waiting<V>['resolve'] = () => undefined;
    let reject: Waiting<V>['reject'] = () => undefined;
    const value = new Promise<V | undefined>((onFound, onError) => {
      resolve = onFound;
      reject = onError;
    });
    if (joined.size === 0) setImmediate(lookUp);
    joined.set(key, { value, resolve, reject });
    return value;
  };
}
