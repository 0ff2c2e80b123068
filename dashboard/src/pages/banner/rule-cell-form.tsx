import { useState } from 'react';
import type { CategoryRule, SiteRule } from '../../../../schemas/events/site-config.js';
import type { Category, ConfigurationDraft } from '../../api/types.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { ruleOptions } from './rule-options.js';
import { textsIn } from './texts-in.js';
import { useRulesChange } from './use-rules.js';

interface RuleCellFormProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
  readonly rules: readonly SiteRule[];
  readonly index: number;
  readonly category: Category;
  readonly onClose: () => void;
}

/** What a rule says of one category: only what the law of its places permits, with the reasons against the rest. */
export function RuleCellForm({ siteId, draft, rules, index, category, onClose }: RuleCellFormProps) {
  const { rules: words, common } = useMessages();
  const { languageName, locale } = useFormats();
  const change = useRulesChange(siteId);
  const rule = rules[index];
  const decided = rule?.categories[category.key] ?? { rule: 'opt_in' };
  const known = decided.rule === 'exempt' ? decided : undefined;
  const [kind, setKind] = useState(decided.rule);
  if (rule === undefined) return null;
  const { kinds, exceptions, processor, refused } = ruleOptions(rule, category, draft, { words, locale });
  // What the draft says already stays visible, also where it is not permitted.
  const offered = kinds.includes(decided.rule) ? kinds : [...kinds, decided.rule];
  const offeredExceptions =
    known === undefined || exceptions.includes(known.exception) ? exceptions : [...exceptions, known.exception];
  const changed = (values: Values): CategoryRule => {
    if (kind !== 'exempt') return { rule: kind };
    const exception = offeredExceptions.find((one) => one === values.text('exception')) ?? 'own_statistics';
    const ground = textsIn(values, 'ground', draft.languages);
    return { rule: kind, exception, ground, ...(processor !== undefined && { processor }) };
  };
  const isThere = (key: string) => draft.categories.some((one) => one.key === key && !one.required);
  return (
    <ActionForm
      submit={common.save}
      onCancel={onClose}
      action={async (values) => {
        const categories = Object.fromEntries(Object.entries(rule.categories).filter(([key]) => isThere(key)));
        const saved = { ...rule, categories: { ...categories, [category.key]: changed(values) } };
        await change(rules.map((one) => (one === rule ? saved : one)));
        onClose();
      }}
    >
      <SelectInput
        name="rule"
        label={words.rule}
        hint={words.meanings[kind]}
        value={kind}
        onChange={(value) => setKind(offered.find((one) => one === value) ?? 'opt_in')}
        options={offered.map((value) => ({ value, label: words.kinds[value] }))}
      />
      {refused.length === 0 ? null : (
        <div className="hint">
          <p>{words.notOffered}</p>
          <ul>
            {refused.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </div>
      )}
      {kind === 'exempt' ? (
        <>
          <SelectInput
            name="exception"
            label={words.exception}
            defaultValue={known?.exception ?? offeredExceptions[0] ?? ''}
            options={offeredExceptions.map((value) => ({ value, label: words.exceptions[value] }))}
          />
          {draft.languages.map((language) => (
            <TextInput
              key={language}
              name={`ground.${language}`}
              label={words.ground(languageName(language))}
              hint={words.groundHint}
              defaultValue={known?.ground[language] ?? ''}
              rows={2}
              isRequired
            />
          ))}
          <p className="hint">{processor === undefined ? words.noProcessor : words.processor(processor)}</p>
        </>
      ) : null}
      {kind === 'opt_in' ? null : <p className="hint">{words.textHint}</p>}
    </ActionForm>
  );
}
