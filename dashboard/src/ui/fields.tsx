import { type ReactNode, useContext, useId, useState } from 'react';
import {
  Checkbox as AriaCheckbox,
  CheckboxGroup,
  FieldError,
  FieldErrorContext,
  FormValidationContext,
  Input,
  Label,
  Text,
  TextArea,
  TextField,
} from 'react-aria-components';
import { useMessages } from '../i18n/locale.js';

interface FieldProps {
  /** The name of the member in the API, at which its errors appear. */
  readonly name: string;
  readonly label: string;
  readonly hint?: ReactNode;
  readonly isRequired?: boolean;
  readonly defaultValue?: string;
  readonly value?: string;
  readonly onChange?: (value: string) => void;
}

interface TextInputProps extends FieldProps {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'date' | 'search';
  readonly autoComplete?: string;
  /** Number of lines; more than one for a text of several lines. */
  readonly rows?: number;
  readonly isCode?: boolean;
  readonly maxLength?: number;
  /** Whether it takes the focus when it appears, because the user has to go on here. */
  readonly takesFocus?: boolean;
}

/** A field for text, with its errors. */
export function TextInput({
  label,
  hint,
  rows = 1,
  isCode = false,
  takesFocus = false,
  type = 'text',
  ...props
}: TextInputProps) {
  const { common } = useMessages();
  const look = isCode ? 'input code' : 'input';
  return (
    <TextField {...props} autoFocus={takesFocus} type={type} className="field" validationBehavior="native">
      <Label className="label">
        {label}
        {props.isRequired === true ? null : <span className="label-note"> ({common.optional})</span>}
      </Label>
      {hint === undefined ? null : (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      {/* Each text in its own direction: the values of a site may be Arabic. */}
      {rows > 1 ? (
        <TextArea className={look} rows={rows} dir="auto" />
      ) : (
        <Input className={look} dir={type === 'text' ? 'auto' : undefined} />
      )}
      <FieldMessage />
    </TextField>
  );
}

/**
 * The error of a field. It goes when the entry into the field ends, which a press on a button does first: its room
 * stays, or the button would move away below the pointer, and the press would be lost.
 */
function FieldMessage() {
  const validation = useContext(FieldErrorContext);
  const message = validation?.isInvalid === true ? validation.validationErrors.join(' ') : '';
  const [last, setLast] = useState('');
  if (message !== '' && message !== last) setLast(message);
  if (message === '' && last !== '')
    return (
      <span className="field-error field-error-gone" aria-hidden="true">
        {last}
      </span>
    );
  return <FieldError className="field-error" />;
}

interface SelectInputProps extends FieldProps {
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

/** A choice of one value, by the control of the device. */
export function SelectInput({
  name,
  label,
  hint,
  options,
  isRequired,
  defaultValue,
  value,
  onChange,
}: SelectInputProps) {
  const id = useId();
  const problem = useContext(FormValidationContext)?.[name];
  const hintId = `${id}-hint`;
  const problemId = `${id}-problem`;
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {hint === undefined ? null : (
        <span className="hint" id={hintId}>
          {hint}
        </span>
      )}
      <select
        id={id}
        name={name}
        className="input"
        required={isRequired}
        aria-describedby={
          [hint === undefined ? '' : hintId, problem === undefined ? '' : problemId].join(' ').trim() || undefined
        }
        aria-invalid={problem === undefined ? undefined : true}
        {...(value === undefined ? { defaultValue } : { value })}
        onChange={(event) => onChange?.(event.target.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {problem === undefined ? null : (
        <span className="field-error" id={problemId}>
          {problem}
        </span>
      )}
    </div>
  );
}

interface CheckboxProps {
  readonly name?: string;
  readonly children: ReactNode;
  readonly hint?: ReactNode;
  readonly defaultSelected?: boolean;
  readonly isSelected?: boolean;
  readonly onChange?: (isSelected: boolean) => void;
}

export function Checkbox({ children, hint, ...props }: CheckboxProps) {
  const id = useId();
  const box = (
    <AriaCheckbox {...props} {...(hint !== undefined && { 'aria-describedby': id })} value="true" className="checkbox">
      <span className="checkbox-box" aria-hidden="true" />
      <span>{children}</span>
    </AriaCheckbox>
  );
  if (hint === undefined) return box;
  return (
    <div className="field">
      {box}
      <span className="hint" id={id}>
        {hint}
      </span>
    </div>
  );
}

export interface BoxesProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: ReactNode;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly defaultValue?: readonly string[];
  readonly value?: readonly string[];
  readonly onChange?: (values: readonly string[]) => void;
  readonly isNarrow?: boolean;
  /** What is said if none is ticked. If omitted, none has to be. */
  readonly required?: string;
}

/** A list of boxes, with its errors. The form has one value for each that is ticked. */
export function Boxes({
  name,
  label,
  hint,
  options,
  defaultValue,
  value,
  onChange,
  isNarrow = false,
  required,
}: BoxesProps) {
  return (
    <CheckboxGroup
      name={name}
      className="field"
      validationBehavior="native"
      isRequired={required !== undefined}
      {...(value === undefined ? { defaultValue: [...(defaultValue ?? [])] } : { value: [...value] })}
      {...(onChange !== undefined && { onChange })}
    >
      <Label className="label">{label}</Label>
      {hint === undefined ? null : (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <div className={isNarrow ? 'boxes boxes-narrow' : 'boxes'}>
        {options.map((option) => (
          <AriaCheckbox key={option.value} value={option.value} className="checkbox">
            <span className="checkbox-box" aria-hidden="true" />
            <span>{option.label}</span>
          </AriaCheckbox>
        ))}
      </div>
      <FieldError className="field-error">
        {({ validationErrors, validationDetails }) =>
          validationDetails.valueMissing ? required : validationErrors.join(' ')
        }
      </FieldError>
    </CheckboxGroup>
  );
}

/** The lines of a text field, without empty ones. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
