import type { TextTable, TextValues } from "../core/text/bot-texts.ts";
import { pluralForm } from "./plural.ts";
import type { PluralForms } from "./plural.ts";

/** The Arabic texts that count something, in the six plural forms of the language. */
export const counts = {
  requestsWait: (values) =>
    plural(values, {
      zero: "لا ينتظر أي طلب قرارًا.",
      one: "ما زال طلب واحد ينتظر قرارًا.",
      two: "ما زال طلبان ينتظران قرارًا.",
      few: "ما زالت {count} طلبات تنتظر قرارًا.",
      many: "ما زال {count} طلبًا ينتظر قرارًا.",
      other: "ما زال {count} طلب ينتظر قرارًا.",
    }),
  moreValues: (values) =>
    plural(values, {
      zero: "لا قيم أخرى",
      one: "قيمة أخرى",
      two: "قيمتان أخريان",
      few: "{count} قيم أخرى",
      many: "{count} قيمة أخرى",
      other: "{count} قيمة أخرى",
    }),
  andMore: (values) =>
    plural(values, {
      zero: "… ولا شيء آخر",
      one: "… وواحد آخر",
      two: "… واثنان آخران",
      few: "… و{count} أخرى",
      many: "… و{count} غيرها",
      other: "… و{count} غيرها",
    }),
  grantTimes: (values) =>
    plural(values, {
      zero: "ولا مرة",
      one: "مرة واحدة",
      two: "مرتين",
      few: "{count} مرات",
      many: "{count} مرة",
      other: "{count} مرة",
    }),
  usedTimes: (values) =>
    plural(values, {
      zero: "لم يُستخدم بعد",
      one: "استُخدم مرة واحدة",
      two: "استُخدم مرتين",
      few: "استُخدم {count} مرات",
      many: "استُخدم {count} مرة",
      other: "استُخدم {count} مرة",
    }),
  moreSchedules: (values) =>
    plural(values, {
      zero: "ولا شيء آخر.",
      one: "وموعد آخر.",
      two: "وموعدان آخران.",
      few: "و{count} مواعيد أخرى.",
      many: "و{count} موعدًا آخر.",
      other: "و{count} موعد آخر.",
    }),
  filesTitle: (values) =>
    plural(values, {
      zero: "{count} ملف، {used} من {most} ميغابايت",
      one: "ملف واحد، {used} من {most} ميغابايت",
      two: "ملفان، {used} من {most} ميغابايت",
      few: "{count} ملفات، {used} من {most} ميغابايت",
      many: "{count} ملفًا، {used} من {most} ميغابايت",
      other: "{count} ملف، {used} من {most} ميغابايت",
    }),
  seconds: (values) =>
    plural(values, {
      zero: "{count} ثانية",
      one: "ثانية واحدة",
      two: "ثانيتين",
      few: "{count} ثوانٍ",
      many: "{count} ثانية",
      other: "{count} ثانية",
    }),
  minutes: (values) =>
    plural(values, {
      zero: "{count} دقيقة",
      one: "دقيقة واحدة",
      two: "دقيقتين",
      few: "{count} دقائق",
      many: "{count} دقيقة",
      other: "{count} دقيقة",
    }),
  hours: (values) =>
    plural(values, {
      zero: "{count} ساعة",
      one: "ساعة واحدة",
      two: "ساعتين",
      few: "{count} ساعات",
      many: "{count} ساعة",
      other: "{count} ساعة",
    }),
  days: (values) =>
    plural(values, {
      zero: "{count} يوم",
      one: "يوم واحد",
      two: "يومين",
      few: "{count} أيام",
      many: "{count} يومًا",
      other: "{count} يوم",
    }),
} satisfies Partial<TextTable>;

function plural(values: TextValues, forms: PluralForms<"zero" | "one" | "two" | "few" | "many">): string {
  return pluralForm("ar", values, forms);
}
