import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { importedFile, ROOT, sourceFiles } from './import-graph.js';

const PARTS = ['src', 'schemas', 'projections', 'verifier-cli/src', 'sdk', 'dashboard/src', 'bench', 'test'];
/** Their exports are for programs outside the repository, for a build or a generated file, or are bundled under another name. */
const PUBLIC =
  /^(?:verifier-cli\/src\/(?:index\.ts|browser\/|container\/browser\/)|schemas\/crypto\/browser\/|schemas\/evidence\/json-schemas\.ts|verifier-cli\/src\/report\/report-schema\.ts|src\/platform\/(?:config\/documentation|database\/schema-differences)\.ts|sdk\/(?:browser|conformance|mobile|node)\/src\/index\.ts|sdk\/react\/src\/(?:index|headless|placeholder)\.ts|dashboard\/src\/api\/panel-api\.ts|test\/api\/openapi\/clients?\/|test\/vectors\/|test\/reliability\/one-process\/quick-ml-dsa\.ts)/;

interface Exports {
  /** `file#name` for each export. */
  readonly declared: ReadonlySet<string>;
  /** `file#name` for each name that a file imports; `file#*` where it takes the whole module. */
  readonly used: ReadonlySet<string>;
}

const NAMES = /^(import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/gm;
const DECLARATION =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|interface|type|enum)\s+(\w+)/gm;
const WHOLE_MODULE = /(?:import\s+\*\s+as\s+\w+\s+from\s+|import\()\s*'(\.[^']+)'/g;

function exportsOf(files: readonly (readonly [name: string, text: string])[]): Exports {
  const declared = new Set<string>();
  const used = new Set<string>();
  for (const [file, text] of files) {
    for (const [, name = ''] of text.matchAll(DECLARATION)) declared.add(`${file}#${name}`);
    for (const [, specifier = ''] of text.matchAll(WHOLE_MODULE)) used.add(`${importedFile({ file, specifier })}#*`);
    for (const [, kind, list = '', specifier = ''] of text.matchAll(NAMES)) {
      for (const item of list.split(',')) {
        const [name = '', alias = name] = item
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+as\s+/);
        if (name === '') continue;
        // A name of the product that only tests use is weight without a user.
        const target = importedFile({ file, specifier });
        if (!file.startsWith('test/') || target?.startsWith('test/') === true) used.add(`${target}#${name}`);
        if (kind === 'export') declared.add(`${file}#${alias}`);
      }
    }
  }
  return { declared, used };
}

function unusedOf({ declared, used }: Exports, texts: ReadonlyMap<string, string>): readonly string[] {
  return [...declared].filter((one) => {
    const [file = '', name = ''] = one.split('#');
    if (used.has(one) || used.has(`${file}#*`) || PUBLIC.test(file)) return false;
    // An export that its own file uses too, e.g. the type of a public function's parameter, is documentation.
    return (texts.get(file)?.match(new RegExp(`\\b${name}\\b`, 'g')) ?? []).length < 2;
  });
}

test('every export is imported by another file, or used in its own', () => {
  const texts = new Map(
    [...PARTS.flatMap(sourceFiles), 'vitest.config.ts'].map(
      (file) => [file, readFileSync(resolve(ROOT, file), 'utf8')] as const,
    ),
  );
  expect(unusedOf(exportsOf([...texts]), texts)).toEqual([]);
});

test('finds an export that nothing uses', () => {
  const texts = new Map([
    ['src/a.ts', "export const used = 1;\nexport const unused = 2;\nexport type { T } from './b.js';\n"],
    ['src/b.ts', "import { used } from './a.js';\nexport interface T { a: typeof used }\n"],
  ]);
  expect(unusedOf(exportsOf([...texts]), texts)).toEqual(['src/a.ts#unused', 'src/a.ts#T']);
});
