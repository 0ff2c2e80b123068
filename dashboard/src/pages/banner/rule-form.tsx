import type { SiteRule } from '../../../../schemas/events/site-config.js';
import { FRAMEWORK_PLACES } from '../../../../schemas/law/framework-places.js';
import { US_STATES } from '../../../../schemas/law/us-states.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Boxes, linesOf, TextInput } from '../../ui/fields.js';
import { useRulesChange } from './use-rules.js';

const STATES = US_STATES.filter(({ bindsFew }) => bindsFew !== true).map(({ code, name }) => ({
  value: `US-${code}`,
  label: name,
}));
const FRAMEWORKS = FRAMEWORK_PLACES.flatMap(({ framework }) => (framework === 'none' ? [] : [framework]));

interface RuleFormProps {
  readonly siteId: string;
  readonly rules: readonly SiteRule[];
  /** Place in the list; that after the last one for a new rule. */
  readonly index: number;
  readonly onClose: () => void;
}

/** Adds a rule, or changes its name and places. */
export function RuleForm({ siteId, rules, index, onClose }: RuleFormProps) {
  const { rules: words, common, consents } = useMessages();
  const change = useRulesChange(siteId);
  const rule = rules[index];
  const isState = (place: string) => STATES.some(({ value }) => value === place);
  const changed = (values: Values): SiteRule => {
    const others = linesOf(values.text(`rules.${index}.places`)).map((one) => one.toUpperCase());
    const places = [...values.all('states'), ...others];
    const frameworks = FRAMEWORKS.filter((one) => values.all(`rules.${index}.frameworks`).includes(one));
    return {
      id: values.text(`rules.${index}.id`).trim(),
      categories: rule?.categories ?? {},
      ...(places.length > 0 && { places: [...new Set(places)] }),
      ...(frameworks.length > 0 && { frameworks }),
    };
  };
  return (
    <ActionForm
      submit={common.save}
      onCancel={onClose}
      action={async (values) => {
        await change([...rules.slice(0, index), changed(values), ...rules.slice(index + 1)]);
        onClose();
      }}
    >
      <TextInput
        name={`rules.${index}.id`}
        label={words.id}
        hint={words.idHint}
        defaultValue={rule?.id ?? ''}
        isRequired
        isCode
      />
      <Boxes
        name="states"
        label={words.states}
        isNarrow
        options={STATES}
        defaultValue={(rule?.places ?? []).filter(isState)}
      />
      <Boxes
        name={`rules.${index}.frameworks`}
        label={words.frameworks}
        isNarrow
        options={FRAMEWORKS.map((value) => ({ value, label: consents.laws[value] }))}
        defaultValue={rule?.frameworks ?? []}
      />
      <TextInput
        name={`rules.${index}.places`}
        label={words.places}
        hint={words.placesHint}
        defaultValue={(rule?.places ?? []).filter((place) => !isState(place)).join('\n')}
        rows={3}
        isCode
      />
    </ActionForm>
  );
}
