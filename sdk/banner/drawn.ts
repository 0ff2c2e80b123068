/** A piece of the banner: a text, which is never read as HTML, or an element. */
export type Drawn = string | DrawnElement;

export interface DrawnElement {
  readonly tag: string;
  /** `true` stands for an attribute without a value. */
  readonly attributes: Readonly<Record<string, string | true>>;
  readonly children: readonly Drawn[];
}

/** Draws an element. Attributes that are false or undefined are left out, and lists of children are joined. */
export function draw(
  tag: string,
  attributes: Readonly<Record<string, string | boolean | undefined>>,
  ...children: readonly (Drawn | readonly Drawn[])[]
): DrawnElement {
  const stated: Record<string, string | true> = {};
  for (const [name, value] of Object.entries(attributes))
    if (value !== false && value !== undefined) stated[name] = value;
  return { tag, attributes: stated, children: children.flat() };
}
