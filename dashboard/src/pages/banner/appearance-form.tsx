import type { Appearance, Palette } from '../../../../schemas/banner/appearance.js';
import { RULE_SOURCES, unfairThemes } from '../../../../schemas/banner/fair-appearance.js';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { ColourInput } from './colour-input.js';
import { useDraftChange } from './use-draft.js';

const LAYOUTS = ['bar', 'box', 'dialog'] as const satisfies readonly Appearance['layout'][];
const SIDES = ['start', 'end'] as const satisfies readonly Appearance['side'][];
const SCHEMES = ['auto', 'light', 'dark'] as const satisfies readonly Appearance['scheme'][];
const FONTS = ['system', 'serif', 'monospace'] as const satisfies readonly Appearance['font'][];
const COLOURS = [
  'background',
  'text',
  'border',
  'accept',
  'on_accept',
  'reject',
  'on_reject',
] as const satisfies readonly (keyof Palette)[];
const MOST_RADIUS = 24;

interface AppearanceFormProps {
  readonly siteId: string;
  /** The look that is being edited, which the preview shows. */
  readonly appearance: Appearance;
  readonly onChange: (appearance: Appearance) => void;
}

/** Layout and theme of the banner. An unfair theme is named at once, with the source of the rule. */
export function AppearanceForm({ siteId, appearance, onChange }: AppearanceFormProps) {
  const { banner, common } = useMessages();
  const api = useApi();
  const change = useDraftChange(siteId, (_: unknown, revision) =>
    dataOf(
      api.PATCH('/api/v1/sites/{site_id}/configuration', {
        params: { path: { site_id: siteId } },
        body: { appearance, revision },
      }),
    ),
  );
  const choice = <Name extends 'layout' | 'side' | 'scheme' | 'font'>(
    name: Name,
    values: readonly Appearance[Name][],
    words: Readonly<Record<Appearance[Name], string>>,
  ) => (
    <SelectInput
      name={`appearance.${name}`}
      label={banner.look[name]}
      value={appearance[name]}
      onChange={(value) => {
        const chosen = values.find((one) => one === value);
        if (chosen !== undefined) onChange({ ...appearance, [name]: chosen });
      }}
      options={values.map((value) => ({ value, label: words[value] }))}
    />
  );
  const unfair = unfairThemes(appearance);
  const schemes = (['light', 'dark'] as const).filter(
    (one) => appearance.scheme === 'auto' || appearance.scheme === one,
  );
  return (
    <Section title={banner.look.title} lead={banner.look.lead}>
      <ActionForm submit={common.save} action={change} done={common.saved}>
        <div className="form-row">
          {choice('layout', LAYOUTS, banner.look.layouts)}
          {choice('side', SIDES, banner.look.sides)}
        </div>
        <div className="form-row">
          {choice('scheme', SCHEMES, banner.look.schemes)}
          {choice('font', FONTS, banner.look.fonts)}
          <TextInput
            name="appearance.radius"
            type="number"
            label={banner.look.radius}
            value={String(appearance.radius)}
            onChange={(text) =>
              onChange({ ...appearance, radius: Math.min(MOST_RADIUS, Math.max(0, Math.trunc(Number(text)))) })
            }
            isRequired
          />
        </div>
        {schemes.map((scheme) => (
          <fieldset key={scheme} className="colours">
            <legend>{banner.look.coloursOf[scheme]}</legend>
            {COLOURS.map((name) => (
              <ColourInput
                key={name}
                name={`appearance.${scheme}.${name}`}
                label={banner.look.colours[name]}
                value={appearance[scheme][name]}
                onChange={(colour) => onChange({ ...appearance, [scheme]: { ...appearance[scheme], [name]: colour } })}
              />
            ))}
          </fieldset>
        ))}
        <p className="hint">{banner.look.fixed}</p>
        {unfair.length === 0 ? null : (
          <Notice kind="warning">
            <p>{banner.look.unfair}</p>
            <ul className="list">
              {unfair.map(({ field, rule, found, least }) => (
                <li key={field + rule}>
                  {banner.look.coloursOf[field.includes('.light.') ? 'light' : 'dark']}:{' '}
                  {banner.look.rules[rule](colourName(field, banner.look.colours), found, least)}{' '}
                  <span className="hint">({RULE_SOURCES[rule]})</span>
                </li>
              ))}
            </ul>
          </Notice>
        )}
      </ActionForm>
    </Section>
  );
}

/** The label of the colour at a path such as `appearance.light.reject`. */
function colourName(field: string, names: Readonly<Record<keyof Palette, string>>): string {
  const found = COLOURS.find((name) => field.endsWith(`.${name}`));
  return found === undefined ? field : names[found];
}
