/** A policy as it is to be published. */
export interface Policy {
  readonly language: string;
  readonly title: string;
  /** Markdown, without a gap. */
  readonly content: string;
}

/** The gaps of a policy template (`schemas/text/gaps.ts`), with what the user wrote for each. */
export type PolicyFacts = Readonly<Record<GapName, string>>;

const GAP_NAMES = ['who', 'what', 'recipients', 'periods', 'rights', 'contact'] as const;
type GapName = (typeof GAP_NAMES)[number];

/**
 * Returns a template with its gaps filled in. A gap without an answer stays as it is, so that it is found before the
 * text is published.
 */
export function withoutGaps(content: string, facts: PolicyFacts): string {
  return content.replaceAll(/\[\[([a-z]+): [^[\]\n]*\]\]/g, (gap, name: string) => {
    const known = GAP_NAMES.find((one) => one === name);
    return (known === undefined ? '' : facts[known].trim()) || gap;
  });
}
