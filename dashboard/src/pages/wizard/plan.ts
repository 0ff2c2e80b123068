/** What the service has of a site, from nothing to one that waits for its first consent. */
export interface Existing {
  readonly isAdded: boolean;
  readonly isProved: boolean;
  /** Whether people can consent to a text: then the policy of the wizard is not needed. */
  readonly hasTextInForce: boolean;
  readonly hasDocument: boolean;
  /** State of the version with the words that were typed, or null if there is none. */
  readonly version: 'draft' | 'published' | null;
  readonly isConfigured: boolean;
  readonly hasKey: boolean;
}

/** A call of the panel API, or `prove-domain`, which waits for the user. */
export type Step =
  | 'add-site'
  | 'prove-domain'
  | 'add-document'
  | 'write-version'
  | 'publish-version'
  | 'activate-version'
  | 'fill-draft'
  | 'publish-configuration'
  | 'make-key';

/**
 * Returns the steps that are left, in their order. Nothing that exists is made again, and nothing is published before
 * the domain is proved.
 * @param isFilled whether the draft of the banner has what was chosen
 */
export function stepsLeft(existing: Existing, isFilled = false): readonly Step[] {
  const { isAdded, isProved, hasTextInForce, hasDocument, version, isConfigured, hasKey } = existing;
  const left: Step[] = [];
  if (!isAdded) left.push('add-site');
  if (!isProved) left.push('prove-domain');
  if (!hasTextInForce) {
    if (!hasDocument) left.push('add-document');
    if (version === null) left.push('write-version');
    if (version !== 'published') left.push('publish-version');
    left.push('activate-version');
  }
  if (!isConfigured) {
    if (!isFilled) left.push('fill-draft');
    left.push('publish-configuration');
  }
  if (!hasKey) left.push('make-key');
  return left;
}

/** A step of the plan failed, or reading what exists (`null`). What the steps before it made stays. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';

  /** @param reason what the call threw */
  constructor(
    readonly step: Step | null,
    readonly reason: unknown,
  ) {
    super(step ?? 'read');
  }
}

interface Effects<State extends Existing> {
  /** Reads what exists now. */
  readonly read: () => Promise<State>;
  readonly perform: (step: Step, existing: State) => Promise<unknown>;
}

/**
 * Performs what is left, one call after another, up to a step of the user. It looks at what exists before each call, so
 * that a press after a failure, a lost answer or a reload goes on where the last one stopped.
 * @throws StepFailure
 */
export async function performPlan<State extends Existing>({ read, perform }: Effects<State>): Promise<void> {
  const done = new Set<Step>();
  for (;;) {
    const existing = await read().catch((reason: unknown) => {
      throw new StepFailure(null, reason);
    });
    const [next] = stepsLeft(existing, done.has('fill-draft'));
    if (next === undefined || next === 'prove-domain') return;
    // The service accepted it and does not show it: a second call would make the thing twice.
    if (done.has(next)) throw new StepFailure(next, null);
    await perform(next, existing).catch((reason: unknown) => {
      throw new StepFailure(next, reason);
    });
    done.add(next);
  }
}
