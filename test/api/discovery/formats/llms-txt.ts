export interface Link {
  readonly name: string;
  readonly url: string;
}

/**
 * An llms.txt by llmstxt.org, "Format": a title, a summary, notes without headings, then sections
 * that hold nothing but lists of links. @throws
 */
export function parseLlmsTxt(text: string): { readonly title: string; readonly links: readonly Link[] } {
  const [head = '', ...sections] = text.split(/^## /m);
  const [, title, rest = ''] = /^# (\S[^\n]*)\n\n> \S[^\n]*\n\n(.*)$/s.exec(head) ?? [];
  if (title === undefined) throw new Error('no title and summary at the beginning');
  if (/^#/m.test(rest)) throw new Error('a heading among the notes');
  return { title, links: sections.flatMap(linksOf) };
}

function linksOf(section: string): readonly Link[] {
  const [name = '', ...lines] = section.split('\n');
  const links = lines
    .filter((line) => line !== '')
    .map((line) => {
      const [, label, url] = /^- \[([^\]]+)\]\((\S+)\)(?:: \S.*)?$/.exec(line) ?? [];
      if (label === undefined || url === undefined) throw new Error(`not a link in "${name}": ${line}`);
      return { name: label, url };
    });
  if (links.length === 0) throw new Error(`no links in "${name}"`);
  return links;
}
