import { readFile } from 'node:fs/promises';

/** A private member of a class, as the sources name it. */
const PRIVATE = /(^|[\s.({[!])#([a-zA-Z]\w*)/gm;

/** The names that `plainMembers` gives, for `shortened`. */
export const PLAIN = '\\$(?:own|derived)_\\w+';

/**
 * A plugin of esbuild: private members of classes become plain ones, which terser then gives short names. Those of a
 * derived class differ from those of its base class.
 */
export const plainMembers = {
  name: 'plain members',
  setup(bundle) {
    bundle.onLoad({ filter: /\/sdk\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const prefix = / class \w+ extends /.test(text) ? 'derived' : 'own';
      return { loader: 'ts', contents: text.replace(PRIVATE, `$1$$${prefix}_$2`) };
    });
  },
};
