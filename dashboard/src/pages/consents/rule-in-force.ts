import type { SiteRule } from '../../../../schemas/events/site-config.js';
import { stateWithLaw } from '../../../../schemas/law/us-states.js';
import type { PublicRecord } from '../../api/types.js';
import type { PublishedConfiguration } from './published-configuration.js';

/** A record, which names a rule if its site had one for the place of the person. */
type Ruled = Pick<PublicRecord, 'site_config_hash'> & { readonly rule_id?: string | null };

/** The rule that a record names. */
export interface RuleInForce {
  readonly id: string;
  /** As it was published; undefined until that is known, or if the configuration has no such rule. */
  readonly rule: SiteRule | undefined;
  /** Law of the state, if the rule is for one state alone: the list of laws that records name has no word for it. */
  readonly law: string | undefined;
}

/**
 * The rule under which the person acted, or null if the record names none.
 * @param published the configuration that the record names, once it is known
 */
export function ruleInForce(
  { rule_id: id }: Ruled,
  published: Pick<PublishedConfiguration, 'rules'> | null | undefined,
): RuleInForce | null {
  if (id == null) return null;
  const rule = published?.rules?.find((one) => one.id === id);
  const [place = '', ...others] = rule?.places ?? [];
  const isOne = others.length === 0 && (rule?.frameworks ?? []).length === 0;
  return { id, rule, law: isOne ? stateWithLaw(place)?.law : undefined };
}
