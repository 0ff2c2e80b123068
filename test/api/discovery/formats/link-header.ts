export interface HeaderLink {
  readonly target: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * The links of a Link header (RFC 8288 §3) whose parameters are all quoted. @throws if it is not
 * well formed
 */
export function parseLinkHeader(value: string): readonly HeaderLink[] {
  const links: HeaderLink[] = [];
  let rest = value;
  while (rest !== '') {
    const [whole, target = '', parameters = ''] = /^<([^<>\s]*)>((?:; [a-z]+="[^"\\]*")*)(?:, |$)/.exec(rest) ?? [];
    if (whole === undefined) throw new Error(`not a link: ${rest}`);
    links.push({
      target,
      parameters: Object.fromEntries(
        [...parameters.matchAll(/; ([a-z]+)="([^"]*)"/g)].map(([, name, text]) => [name, text]),
      ),
    });
    rest = rest.slice(whole.length);
  }
  return links;
}
