/** The texts that an app keeps on the device, each under a name of its own. */
export interface AppStorage {
  /** Names of everything that is kept. */
  keys(): Promise<readonly string[]>;
  /** @returns null for a name without a text */
  get(name: string): Promise<string | null>;
  /** Resolves once the text survives the end of the app. */
  set(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** The part of `@react-native-async-storage/async-storage` that the SDK calls. */
export interface AsyncStorageLike {
  getAllKeys(): Promise<readonly string[]>;
  getItem(key: string): Promise<string | null>;
  setItem(key: string, value: string): Promise<void>;
  removeItem(key: string): Promise<void>;
}

/** Keeps everything in AsyncStorage of React Native, or in a library of the same shape. */
export function asyncStorage(storage: AsyncStorageLike): AppStorage {
  return {
    keys: () => storage.getAllKeys(),
    get: (name) => storage.getItem(name),
    set: (name, text) => storage.setItem(name, text),
    remove: (name) => storage.removeItem(name),
  };
}

/** The part of `@capacitor/preferences` that the SDK calls. */
export interface PreferencesLike {
  keys(): Promise<{ keys: string[] }>;
  get(options: { key: string }): Promise<{ value: string | null }>;
  set(options: { key: string; value: string }): Promise<void>;
  remove(options: { key: string }): Promise<void>;
}

/** Keeps everything in Preferences of Capacitor, which iOS does not clear as it does the storage of a web view. */
export function capacitorPreferences(preferences: PreferencesLike): AppStorage {
  return {
    keys: async () => (await preferences.keys()).keys,
    get: async (key) => (await preferences.get({ key })).value,
    set: (key, value) => preferences.set({ key, value }),
    remove: (key) => preferences.remove({ key }),
  };
}
