import { type FormEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Form } from 'react-aria-components';
import { ApiFailure } from '../api/failure.js';
import { useMessages } from '../i18n/locale.js';
import type { Messages } from '../i18n/messages.js';
import { Button } from './button.js';
import { useFailureText } from './failure-text.js';
import { fieldMessage } from './field-message.js';
import { Notice } from './notice.js';
import { useUnsaved } from './unsaved.js';

/** The values of a form, by the names of its fields. */
export class Values {
  constructor(private readonly data: FormData) {}

  text(name: string): string {
    const value = this.data.get(name);
    return typeof value === 'string' ? value : '';
  }

  /** A number, or null if the field is empty. */
  number(name: string): number | null {
    const text = this.text(name).trim();
    return text === '' ? null : Number(text);
  }

  isTicked(name: string): boolean {
    return this.data.has(name);
  }

  /** Every value of a name, for example of a group of boxes. */
  all(name: string): string[] {
    return this.data.getAll(name).filter((value) => typeof value === 'string');
  }
}

interface ActionFormProps {
  /** Sends the values. Its errors are shown at the fields that they concern. */
  readonly action: (values: Values) => Promise<unknown>;
  readonly submit: string;
  readonly look?: 'primary' | 'plain' | 'danger';
  readonly onCancel?: () => void;
  /** Shown after the action succeeded. */
  readonly done?: string;
  /** Whether it is a filter in one line, which holds nothing that its user would miss. */
  readonly isInline?: boolean;
  /** Whether the page keeps what is typed, and says itself what would be lost. */
  readonly isKept?: boolean;
  /** Whether it cannot be sent yet, because what it is about is still being loaded. */
  readonly isWaiting?: boolean;
  readonly children: ReactNode;
}

/** A form whose errors appear at the fields that the service names, or above the form if it names none. */
export function ActionForm({
  action,
  submit,
  look = 'primary',
  onCancel,
  done,
  isInline = false,
  isKept = false,
  isWaiting = false,
  children,
}: ActionFormProps) {
  const { auth, common, errors, fieldMessages } = useMessages();
  const failureText = useFailureText();
  const form = useRef<HTMLFormElement>(null);
  const [state, setState] = useState<'idle' | 'pending' | 'done'>('idle');
  const [failure, setFailure] = useState<unknown>(null);
  const isChanged = useRef(false);
  useUnsaved(() => (isChanged.current && !isInline && !isKept ? 'typed' : null));
  useEffect(() => {
    const note = () => {
      isChanged.current = true;
    };
    // The control of a device for a list may send `change` alone.
    const element = form.current;
    for (const type of ['input', 'change']) element?.addEventListener(type, note);
    return () => {
      for (const type of ['input', 'change']) element?.removeEventListener(type, note);
    };
  }, []);

  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (state === 'pending') return;
    const values = new Values(new FormData(event.currentTarget));
    setState('pending');
    // An action may lead to another page.
    isChanged.current = false;
    setFailure(null);
    try {
      await action(values);
      setState('done');
    } catch (error) {
      isChanged.current = true;
      setFailure(error);
      setState('idle');
    }
  };

  const { atFields, elsewhere } = useMemo(() => placed(failure, form.current, fieldMessages), [failure, fieldMessages]);
  const [firstName] = Object.keys(atFields);
  const isMarked = firstName !== undefined && failure instanceof ApiFailure && failure.code === 'VALIDATION_ERROR';
  useEffect(() => {
    if (firstName === undefined) return;
    const named = form.current?.elements.namedItem(firstName);
    // The boxes of a group have one name.
    const field = named instanceof RadioNodeList ? named[0] : named;
    if (field instanceof HTMLElement) field.focus();
  }, [firstName]);
  return (
    <Form ref={form} className={isInline ? 'form form-inline' : 'form'} onSubmit={send} validationErrors={atFields}>
      {failure === null ? null : (
        <Notice kind="problem" isAnnounced takesFocus={firstName === undefined}>
          <p>{isMarked ? errors.VALIDATION_ERROR : failureText(failure)}</p>
          {failure instanceof ApiFailure && failure.code === 'INVALID_BEARER_TOKEN' ? (
            <p>
              <a href={import.meta.env.BASE_URL} target="_blank" rel="noreferrer">
                {auth.inNewTab}
              </a>
            </p>
          ) : null}
          {elsewhere.length === 0 ? null : (
            <ul>
              {elsewhere.map(({ field, message }) => (
                <li key={field + message}>
                  {field}: {message}
                </li>
              ))}
            </ul>
          )}
        </Notice>
      )}
      {children}
      <div className="form-actions">
        <Button type="submit" look={look} isBusy={state === 'pending'} isDisabled={isWaiting}>
          {submit}
        </Button>
        {onCancel === undefined ? null : <Button onPress={onCancel}>{common.cancel}</Button>}
        {done !== undefined && state === 'done' ? (
          <span role="status" className="done">
            {done}
          </span>
        ) : null}
      </div>
    </Form>
  );
}

/** The fields that show errors, by name. Boxes and colours have no place for one. */
function fieldsIn(form: HTMLFormElement | null): ReadonlyMap<string, Element> {
  const fields = new Map<string, Element>();
  for (const element of form?.elements ?? []) {
    const name = element.getAttribute('name') ?? '';
    if (name !== '' && !fields.has(name) && element.closest('.field') !== null) fields.set(name, element);
  }
  return fields;
}

type Words = Messages['fieldMessages'];

/**
 * Errors by the field that shows them. `allowed_origins.2` is line 3 of the field `allowed_origins`. An error without a
 * field is described in words, because forms do not show API paths.
 */
function placed(failure: unknown, form: HTMLFormElement | null, words: Words) {
  const fields = fieldsIn(form);
  const atFields: Record<string, string[]> = {};
  const elsewhere: { readonly field: string; readonly message: string }[] = [];
  for (const problem of failure instanceof ApiFailure ? failure.fields : []) {
    const message = fieldMessage(words, problem.message);
    const own = [...fields.keys()].find((one) => problem.field === one || problem.field.startsWith(`${one}.`));
    if (own === undefined) elsewhere.push({ field: inWords(problem.field), message });
    else {
      const shown = inLine(words, fields.get(own), problem.field.slice(own.length + 1), message);
      atFields[own] = [...(atFields[own] ?? []), shown];
    }
  }
  return { atFields, elsewhere };
}

/** A message with the number of the line of a text field, if its place is a number. */
function inLine(words: Words, field: Element | undefined, place: string, message: string): string {
  const isLine = field instanceof HTMLTextAreaElement && /^\d+$/.test(place);
  return isLine ? words.line(String(Number(place) + 1), message) : message;
}

/** A path of the API without numbers and underscores: `cookies.0.purpose.en` is "cookies purpose en". */
function inWords(path: string): string {
  return path
    .split('.')
    .filter((part) => !/^\d+$/.test(part))
    .join(' ')
    .replaceAll('_', ' ');
}
