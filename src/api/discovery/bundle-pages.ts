import { posix } from 'node:path';
import type { Skill } from './agent-skills.js';

/** Folder of the examples that pages link to. They are served as they are. */
const EXAMPLES = 'docs/examples/';
const LINK = /\[([^[\]]*)\]\(([^()\s]+)\)/g;
const ABSOLUTE = /^(?:[a-z]+:|#|\/)/;

/**
 * Builds the documentation that the service serves, as texts by path: the pages, the examples that they link to, and
 * everything in one text for language models (llmstxt.org). A link to a page that is not served is replaced by its
 * text.
 * @param pages paths, such as `/docs/sdk.md`
 * @param skills precede the pages in the combined text
 * @param read returns a file of the repository
 */
export function bundlePages(
  pages: readonly string[],
  skills: readonly Pick<Skill, 'path' | 'text'>[],
  read: (file: string) => string,
): Readonly<Record<string, string>> {
  const files = pages.map((path) => path.slice(1));
  const served = new Set(files);
  const isServed = (file: string): boolean => served.has(file) || (file.startsWith(EXAMPLES) && file.includes('.'));
  const texts = new Map<string, string>();
  for (const file of files) {
    const text = read(file);
    texts.set(
      file,
      file.endsWith('.md')
        ? withLinks(text, (label, target) => {
            const [path = '', ...anchor] = target.split('#');
            const linked = posix.join(posix.dirname(file), path);
            if (!isServed(linked)) return label;
            if (!served.has(linked)) files.push(linked);
            served.add(linked);
            return `[${label}](/${[linked, ...anchor].join('#')})`;
          })
        : text,
    );
  }
  const ofSkills = skills.map(({ path, text }) =>
    withLinks(text, (label, target) => `[${label}](${posix.join(posix.dirname(path), target)})`),
  );
  const whole = [...ofSkills, ...pages.map((path) => texts.get(path.slice(1)) ?? '')].map((text) => text.trimEnd());
  return {
    ...Object.fromEntries([...texts].map(([file, text]) => [`/${file}`, text])),
    '/llms-full.txt': `${whole.join('\n\n---\n\n')}\n`,
  };
}

/**
 * Replaces the links of a text outside code. Links to other hosts, within the page, and from the root stay as they are.
 */
function withLinks(text: string, linkOf: (label: string, target: string) => string): string {
  return text
    .split(/^((?:```|~~~)[\s\S]*?^(?:```|~~~)$)/m)
    .map((part) =>
      /^(?:```|~~~)/.test(part)
        ? part
        : part.replace(LINK, (link, label: string, target: string) =>
            ABSOLUTE.test(target) ? link : linkOf(label, target),
          ),
    )
    .join('');
}
