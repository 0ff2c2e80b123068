import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Import {
  /** The importing file, relative to the root of the repository. */
  readonly file: string;
  /** As the file writes it: a relative path or the name of a package. */
  readonly specifier: string;
}

/** Every import of the TypeScript files below a folder, type imports and dynamic imports included. */
export function importsOf(part: string): readonly Import[] {
  return sourceFiles(part).flatMap((file) =>
    [...readFileSync(resolve(ROOT, file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => ({
      file,
      specifier: match[1] ?? '',
    })),
  );
}

/** The TypeScript files below a folder, relative to the root of the repository. */
export function sourceFiles(part: string): readonly string[] {
  return readdirSync(resolve(ROOT, part), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules') && !/(^|\/)dist\//.test(name))
    .map((name) => `${part}/${name}`);
}

/** The file that a relative import names, relative to the root of the repository; null for a package. */
export function importedFile({ file, specifier }: Import): string | null {
  if (!specifier.startsWith('.')) return null;
  const path = relative(ROOT, resolve(ROOT, dirname(file), specifier));
  const component = path.replace(/\.js$/, '.tsx');
  return existsSync(resolve(ROOT, component)) ? component : path.replace(/\.js$/, '.ts');
}

export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** The imports between the files below a folder. */
export function fileGraph(part: string): Graph {
  const graph = new Map<string, Set<string>>(sourceFiles(part).map((file) => [file, new Set<string>()]));
  for (const found of importsOf(part)) {
    const target = importedFile(found);
    if (target?.startsWith(`${part}/`)) graph.get(found.file)?.add(target);
  }
  return graph;
}

/**
 * Folds the nodes of a graph.
 * @param nameOf the node that a file belongs to, e.g. its folder
 */
export function foldGraph(graph: Graph, nameOf: (file: string) => string): Graph {
  const folded = new Map<string, Set<string>>();
  for (const [file, targets] of graph) {
    const from = nameOf(file);
    const known = folded.get(from) ?? new Set();
    folded.set(from, known);
    for (const to of [...targets].map(nameOf)) if (to !== from) known.add(to);
  }
  return folded;
}

/** The nodes of the first cycle that a depth-first search finds, the first one repeated at the end; null without one. */
export function cycleOf(graph: Graph): readonly string[] | null {
  const done = new Set<string>();
  const search = (node: string, path: readonly string[]): readonly string[] | null => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return null;
    for (const next of graph.get(node) ?? []) {
      const cycle = search(next, [...path, node]);
      if (cycle !== null) return cycle;
    }
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const cycle = search(node, []);
    if (cycle !== null) return cycle;
  }
  return null;
}
