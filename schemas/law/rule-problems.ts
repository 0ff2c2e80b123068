import { type CategoryRule, rulePlaceProblems } from '../events/site-config.js';
import {
  CONDITIONS,
  MOST_NAMED,
  NEVER_EXEMPT,
  placesOfRule,
  type RuledConfiguration,
  recipientsOf,
  refusedPlaces,
  whyNotExempt,
} from './permitted.js';

/** A rule that cannot be published. */
export interface RuleProblem {
  /** For example `rules.0.categories.statistics`. */
  readonly field: string;
  readonly message: string;
}

/**
 * Lists what the table of publication does not allow, and what makes a rule ambiguous. The texts of grounds are checked
 * with the other texts.
 */
export function* ruleProblems(configuration: RuledConfiguration): Generator<RuleProblem> {
  const { rules = [] } = configuration;
  for (const { path, message } of rulePlaceProblems(rules)) yield { field: path.join('.'), message };
  for (const [index, rule] of rules.entries()) {
    const places = placesOfRule(rule);
    for (const [key, decided] of Object.entries(rule.categories)) {
      for (const message of refusalsOf(key, decided, places, configuration))
        yield { field: `rules.${index}.categories.${key}`, message };
    }
  }
}

/** Why a rule may not say this of a category. */
function* refusalsOf(
  key: string,
  decided: CategoryRule,
  places: readonly string[],
  configuration: RuledConfiguration,
): Generator<string> {
  const category = configuration.categories.find((one) => one.key === key);
  if (category === undefined) yield `there is no category ${key}`;
  else if (category.required) yield `the category ${key} is required: rules are for what visitors can refuse`;
  if (category === undefined || category.required || decided.rule === 'opt_in') return;
  for (const { message } of refusedPlaces(places, decided)) yield message;
  if (decided.rule === 'opt_out') return;
  for (const reason of whyNotExempt(category, configuration, decided.processor)) {
    const others = recipientsOf(category, configuration.cookies).filter((one) => one !== decided.processor);
    const named = reason === 'recipients' ? `: ${others.slice(0, MOST_NAMED).join(', ')}` : '';
    yield `exempt is not allowed for ${key}: ${NEVER_EXEMPT[reason]}${named} (${CONDITIONS})`;
  }
}
