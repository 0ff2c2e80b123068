/**
 * The random reference for a browser, as the cookie `_svc_visitor` keeps it: beside the choice, so that every page that
 * shares the choice records under the same reference, but not inside the choice, because public verify and support
 * desks read choices.
 */
interface KeptVisitor {
  /** `at` of the choice with which it was stored. */
  readonly at: number;
  readonly id: string;
}

export function writeVisitor({ at, id }: KeptVisitor): string {
  return `${at.toString(36)}/${id}`;
}

/** Reads what the cookies hold, the newest first. Other texts are left out: anyone can write a cookie. */
export function readVisitors(texts: readonly string[]): readonly KeptVisitor[] {
  return texts
    .flatMap((text) => {
      const [, at = '', id = ''] = /^([0-9a-z]+)\/([0-9a-f]{32})$/.exec(text) ?? [];
      return id === '' ? [] : { at: Number.parseInt(at, 36), id };
    })
    .sort((a, b) => b.at - a.at);
}

/** The reference under which a page records, or undefined before the first record of the browser. */
export function identityOf({
  ownVisitor,
  visitors,
  storedVisitor,
}: {
  readonly ownVisitor: string | undefined;
  readonly visitors: readonly string[];
  readonly storedVisitor: string | undefined;
}): string | undefined {
  return ownVisitor ?? readVisitors(visitors)[0]?.id ?? storedVisitor;
}
