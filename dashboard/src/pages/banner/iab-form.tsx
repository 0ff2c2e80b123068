import { useState } from 'react';
import { GPP_SECTION_NAMES } from '../../../../schemas/iab/gpp-string.js';
import type { GppSettings, IabSettings, TcfSettings } from '../../../../schemas/iab/iab-settings.js';
import { dataOf } from '../../api/client.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { Checkbox, TextInput } from '../../ui/fields.js';
import { Section } from '../../ui/page.js';
import { gppOf } from './gpp-of.js';
import { useDraftChange } from './use-draft.js';

const OF_STATES = GPP_SECTION_NAMES.filter((name) => name !== 'usnat');
const SECTIONS = { states: OF_STATES, usnat: ['usnat'] } as const;

interface IabFormProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
}

/** The IAB signals that the site sends. They require a registration of the operator (docs/iab.md). */
export function IabForm({ siteId, draft }: IabFormProps) {
  const { banner, common } = useMessages();
  const { iab: words } = banner;
  const api = useApi();
  const keys = draft.categories.filter(({ required }) => !required).map(({ key }) => key);
  const [hasTcf, setHasTcf] = useState(draft.iab?.tcf !== undefined);
  const [hasGpp, setHasGpp] = useState(draft.iab?.gpp !== undefined);
  const [tcf, setTcf] = useState(() => textsOf(draft.iab?.tcf));
  const [edited, setGpp] = useState<GppSettings | null>(null);
  const gpp: GppSettings = edited ?? draft.iab?.gpp ?? { cmp_id: 1, sections: OF_STATES, opt_out: keys };
  const change = useDraftChange(siteId, (_: unknown, revision) => {
    const iab: IabSettings = { ...(hasTcf && { tcf: tcfOf(tcf, keys) }), ...(hasGpp && { gpp: gppOf(gpp, keys) }) };
    const params = { path: { site_id: siteId } };
    return dataOf(api.PATCH('/api/v1/sites/{site_id}/configuration', { params, body: { iab, revision } }));
  });
  const text = (name: TextName, field: string, label: string, hint?: string) => (
    <TextInput
      name={`iab.tcf.${field}`}
      label={label}
      hint={hint}
      value={tcf.texts[name]}
      onChange={(value) => setTcf({ ...tcf, texts: { ...tcf.texts, [name]: value } })}
      isRequired
    />
  );
  const numbers = (name: 'purposes' | 'features', field: string, key: string, label: string) => (
    <TextInput
      key={`${name}.${key}`}
      name={`iab.tcf.${field}.${key}`}
      label={label}
      value={tcf[name][key] ?? ''}
      onChange={(value) => setTcf({ ...tcf, [name]: { ...tcf[name], [key]: value } })}
    />
  );
  return (
    <Section title={words.title} lead={words.lead}>
      <ActionForm submit={common.save} action={change} done={common.saved}>
        <Checkbox isSelected={hasTcf} onChange={setHasTcf}>
          {words.tcf}
        </Checkbox>
        {hasTcf ? (
          <>
            <div className="form-row">
              {text('id', 'cmp_id', words.cmpId)}
              {text('version', 'cmp_version', words.cmpVersion)}
              {text('country', 'publisher_country', words.country, words.countryHint)}
            </div>
            <div className="form-row">
              {text('listVersion', 'vendor_list.version', words.listVersion)}
              {text('listSha256', 'vendor_list.sha256', words.listSha256, words.listHint)}
            </div>
            {text('vendors', 'vendors', words.vendors, words.numbersHint)}
            {keys.map((key) => (
              <div key={key} className="form-row">
                {numbers('purposes', 'purposes', key, words.purposesOf(key))}
                {numbers('features', 'special_features', key, words.featuresOf(key))}
              </div>
            ))}
          </>
        ) : null}
        <Checkbox isSelected={hasGpp} onChange={setHasGpp}>
          {words.gpp}
        </Checkbox>
        {hasGpp ? (
          <>
            <TextInput
              name="iab.gpp.cmp_id"
              type="number"
              label={words.cmpId}
              hint={words.gppIdHint}
              value={String(gpp.cmp_id)}
              onChange={(value) => setGpp({ ...gpp, cmp_id: Number(value) })}
              isRequired
            />
            <fieldset>
              <legend>{words.sections}</legend>
              {(['states', 'usnat'] as const).map((name) => (
                <Checkbox
                  key={name}
                  isSelected={SECTIONS[name].every((section) => gpp.sections.includes(section))}
                  onChange={(isOn) => {
                    const others = gpp.sections.filter((section) => !SECTIONS[name].some((one) => one === section));
                    setGpp({ ...gpp, sections: isOn ? [...others, ...SECTIONS[name]] : others });
                  }}
                >
                  {words.sectionNames[name]}
                </Checkbox>
              ))}
            </fieldset>
            <fieldset>
              <legend>{words.optOut}</legend>
              {keys.map((key) => (
                <Checkbox
                  key={key}
                  isSelected={gpp.opt_out.includes(key)}
                  onChange={(isOn) => setGpp({ ...gpp, opt_out: toggled(gpp.opt_out, key, isOn) })}
                >
                  {key}
                </Checkbox>
              ))}
            </fieldset>
          </>
        ) : null}
      </ActionForm>
    </Section>
  );
}

type TextName = 'id' | 'version' | 'country' | 'listVersion' | 'listSha256' | 'vendors';

/** The settings as a person writes them. */
interface TcfTexts {
  readonly texts: Readonly<Record<TextName, string>>;
  /** Numbers by the key of the category. */
  readonly purposes: Readonly<Record<string, string>>;
  readonly features: Readonly<Record<string, string>>;
}

function textsOf(tcf: TcfSettings | undefined): TcfTexts {
  const { vendor_list: list } = tcf ?? {};
  const joined = (by: Readonly<Record<string, readonly number[]>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(by).map(([key, numbers]) => [key, numbers.join(', ')]));
  return {
    texts: {
      id: String(tcf?.cmp_id ?? ''),
      version: String(tcf?.cmp_version ?? ''),
      country: tcf?.publisher_country ?? '',
      listVersion: String(list?.version ?? ''),
      listSha256: list?.sha256 ?? '',
      vendors: (tcf?.vendors ?? []).join(', '),
    },
    purposes: joined(tcf?.purposes),
    features: joined(tcf?.special_features),
  };
}

/** @returns settings in which a text that is not a number becomes 0, which the service refuses at that field */
function tcfOf({ texts, purposes, features }: TcfTexts, keys: readonly string[]): TcfSettings {
  const numbersOf = (text: string): number[] => (text.match(/[^\s,;]+/g) ?? []).map((one) => Number(one) || 0);
  const numbered = (by: Readonly<Record<string, string>>): Record<string, number[]> =>
    Object.fromEntries(
      keys.map((key) => [key, numbersOf(by[key] ?? '')] as const).filter(([, numbers]) => numbers.length > 0),
    );
  return {
    cmp_id: Number(texts.id) || 0,
    cmp_version: Number(texts.version) || 0,
    publisher_country: texts.country.trim(),
    vendor_list: { version: Number(texts.listVersion) || 0, sha256: texts.listSha256.trim() },
    vendors: numbersOf(texts.vendors),
    purposes: numbered(purposes),
    special_features: numbered(features),
  };
}

function toggled<T>(list: readonly T[], one: T, isOn: boolean): T[] {
  const others = list.filter((other) => other !== one);
  return isOn ? [...others, one] : others;
}
