import { useState } from 'react';
import type { SiteRule } from '../../../../schemas/events/site-config.js';
import type { Category, ConfigurationDraft } from '../../api/types.js';
import { useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { fieldMessage } from '../../ui/field-message.js';
import { Section } from '../../ui/page.js';
import { RowMenu, type RowPress } from '../../ui/row-menu.js';
import { type Column, Table } from '../../ui/table.js';
import { RuleCellForm } from './rule-cell-form.js';
import { RuleForm } from './rule-form.js';
import { decidedText, ruleProblemText, whereOf } from './rule-words.js';
import { rulesOf, useRulesChange } from './use-rules.js';

interface RuleSectionProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
}

/** What is open: the places of a rule, or what it says of a category. */
interface Edited {
  readonly index: number;
  readonly category?: Category;
}

/** A rule and its place in the list. */
interface Row {
  readonly rule: SiteRule;
  readonly index: number;
}

/** The rules of the site: a row for each, in the order in which they are tried, and a column for each category. */
export function RuleSection({ siteId, draft }: RuleSectionProps) {
  const { rules: words, common } = useMessages();
  const mayChange = useMay('changeSites');
  const change = useRulesChange(siteId);
  const [edited, setEdited] = useState<Edited | null>(null);
  const rules = rulesOf(draft);
  const optional = draft.categories.filter(({ required }) => !required);
  const language = draft.default_language ?? draft.languages[0] ?? '';
  const titleOf = ({ key, title }: Category) => title[language] ?? key;
  const close = () => setEdited(null);
  const moved = (index: number, by: 1 | -1): readonly SiteRule[] => {
    const [one, other] = [rules[index], rules[index + by]];
    if (one === undefined || other === undefined) return rules;
    return rules.map((rule) => (rule === one ? other : rule === other ? one : rule));
  };
  const move = (label: string, index: number, by: 1 | -1): readonly RowPress[] =>
    rules[index + by] === undefined ? [] : [{ label, onPress: () => void change(moved(index, by)) }];
  const columns: readonly Column<Row>[] = [
    { label: words.rule, isHeading: true, cell: (row) => <RuleName row={row} problems={draft.problems} /> },
    ...optional.map(
      (category): Column<Row> => ({
        label: titleOf(category),
        phone: 'labelled',
        cell: ({ rule, index }) => {
          const text = decidedText(rule.categories[category.key], words);
          if (!mayChange) return text;
          return (
            <Button
              id={`rules.${index}.categories.${category.key}`}
              aria-label={`${words.cell(rule.id, titleOf(category))}: ${text}`}
              onPress={() => setEdited({ index, category })}
            >
              {text}
            </Button>
          );
        },
      }),
    ),
    ...(mayChange
      ? [
          {
            label: common.actions,
            cell: ({ rule, index }: Row) => (
              <div className="actions">
                <Button
                  id={`rules.${index}`}
                  aria-label={`${words.edit}: ${rule.id}`}
                  onPress={() => setEdited({ index })}
                >
                  {words.edit}
                </Button>
                <RowMenu
                  about={rule.id}
                  actions={[
                    ...move(words.up, index, -1),
                    ...move(words.down, index, 1),
                    {
                      label: words.remove,
                      isDanger: true,
                      content: <p>{words.removeText}</p>,
                      action: () => change(rules.filter((one) => one !== rule)),
                    },
                  ]}
                />
              </div>
            ),
          },
        ]
      : []),
  ];
  return (
    <Section
      title={words.title}
      lead={words.lead}
      actions={
        mayChange && optional.length > 0 ? (
          <Button onPress={() => setEdited({ index: rules.length })}>{words.add}</Button>
        ) : null
      }
    >
      <p>
        <a href="/docs/law.md" target="_blank" rel="noreferrer">
          {words.laws}
        </a>
      </p>
      {optional.length === 0 ? <p>{words.noCategory}</p> : null}
      {rules.length === 0 ? (
        <p>{words.none}</p>
      ) : (
        <>
          <Table
            label={words.title}
            items={rules.map((rule, index) => ({ rule, index }))}
            keyOf={({ index }) => String(index)}
            columns={columns}
          />
          <p>{words.elsewhere}</p>
        </>
      )}
      <Dialog
        title={
          edited?.category === undefined
            ? words.rule
            : words.cell(rules[edited.index]?.id ?? '', titleOf(edited.category))
        }
        isOpen={edited !== null}
        onClose={close}
        staysOpen
      >
        {edited === null ? null : edited.category === undefined ? (
          <RuleForm siteId={siteId} rules={rules} index={edited.index} onClose={close} />
        ) : (
          <RuleCellForm
            siteId={siteId}
            draft={draft}
            rules={rules}
            index={edited.index}
            category={edited.category}
            onClose={close}
          />
        )}
      </Dialog>
    </Section>
  );
}

interface RuleNameProps {
  readonly row: Row;
  readonly problems: ConfigurationDraft['problems'];
}

/** The name of a rule, where it applies, and what keeps it from being published. */
function RuleName({ row: { rule, index }, problems }: RuleNameProps) {
  const { rules: words, consents, fieldMessages } = useMessages();
  const { list, locale } = useFormats();
  const where = whereOf(rule, consents.laws, locale);
  const own = problems.filter(({ field }) => field === `rules.${index}` || field.startsWith(`rules.${index}.`));
  const texts = own.map(({ message }) => ruleProblemText(message, words) ?? fieldMessage(fieldMessages, message));
  return (
    <div className="stack-tight">
      <code>{rule.id}</code>
      <span className="hint">{where.length === 0 ? words.noPlace : list(where)}</span>
      {[...new Set(texts)].map((text) => (
        <span key={text} className="field-error">
          {text}
        </span>
      ))}
    </div>
  );
}
