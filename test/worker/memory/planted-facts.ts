/** A fact as somebody said it once, and the question for it. */
export type PlantedFact = readonly [said: string, question: string];

/** People ask in other words than they said it: other forms, other order, and words that are nowhere. */
export const FACTS: readonly PlantedFact[] = [
  ["My sister Ines moved to Porto in spring.", "Where does my sister Ines live now?"],
  ["The garage opens with the code 4711.", "What is the code for the garage?"],
  ["I am allergic to walnuts.", "Which nuts am I allergic to?"],
  ["Our cat is called Biscuit.", "What's the name of our cat?"],
  ["I wear shoes in size 42.", "What size are my shoes?"],
  ["The invoice for the roof was 8,300 euros.", "How much was the roof invoice?"],
  ["My passport expires in March 2029.", "When does my passport expire?"],
  ["Doctor Okafor is my dentist.", "Who is my dentist?"],
  ["We married on the ninth of June.", "On which day did we marry?"],
  ["The spare key hangs behind the mirror.", "Where is the spare key?"],
  ["The router's password is tulip-seven.", "What was the password of the router?"],
  ["My grandfather built boats in Gdansk.", "What did my grandfather build?"],
  ["Lena plays the cello on Thursdays.", "Which instrument does Lena play?"],
  ["The car needs winter tyres of 16 inches.", "Which tyres does the car need?"],
  ["I gave the drill back to Marcus.", "Who has the drill now?"],
  ["Our landlord wants the rent on the third.", "When does the landlord want the rent?"],
  ["The sofa is 214 centimetres wide.", "How wide is the sofa?"],
  ["I never drink milk in my coffee.", "How do I drink my coffee?"],
  ["The plumber comes from Hartmann & Sons.", "Which company is the plumber from?"],
  ["My locker at the gym is number 88.", "What number is my locker?"],
  ["The wedding photographer was Ximena.", "Who was the photographer at the wedding?"],
  ["My blood type is B negative.", "Do you know my blood type?"],
  ["Aunt Rosalind leaves her house to the theatre.", "To whom does aunt Rosalind leave her house?"],
  ["The bees swarm at the end of May.", "When do the bees swarm?"],
  ["We paint the fence in moss green.", "In which green do we paint the fence?"],
  ["Train tickets to Lyon were 59 euros.", "What did the tickets to Lyon cost?"],
  ["The printer takes cartridges of type 305.", "Which cartridges does the printer take?"],
  ["My thesis was about lichens.", "What was my thesis about?"],
  ["The neighbours' dog barks at umbrellas.", "At what does the neighbours' dog bark?"],
  ["I lost my ring in Lake Constance.", "Where have I lost my ring?"],
  ["Noor borrowed the tent for Iceland.", "Who borrowed the tent?"],
  ["The heating engineer said to bleed the radiators in October.", "When should I bleed the radiators?"],
  ["My favourite opera is Rusalka.", "Which opera is my favourite?"],
  ["Grandma's soup needs lovage.", "Which herb does grandma's soup need?"],
  ["The alarm's battery is a CR2032.", "What battery does the alarm have?"],
  ["I owe Tobias forty crowns.", "How much do I owe Tobias?"],
  ["The vineyard delivers on even weeks.", "In which weeks does the vineyard deliver?"],
  ["Our wifi at the cottage is called Marmot.", "How is the wifi at the cottage called?"],
  ["The violin's bow was rehaired by Kessler.", "Who rehaired the bow of the violin?"],
  ["Parking at the clinic is free after six.", "When is parking free at the clinic?"],
  ["My trainer wants 90 minutes of running a week.", "How many minutes of running does my trainer want?"],
  ["The museum closes on Tuesdays.", "On which day is the museum closed?"],
  ["I keep the warranty in the blue folder.", "In which folder is the warranty?"],
  ["The ferry to Gotland leaves from pier nine.", "From which pier does the Gotland ferry leave?"],
  ["Yusuf is vegetarian, but eats fish.", "What does Yusuf eat?"],
  ["The lawyer's file has the mark KX-220.", "Which mark has the file of the lawyer?"],
  ["The bicycle's lock opens with 9-1-6.", "With which number does the bicycle lock open?"],
  ["My first school was in Windhoek.", "In which town was my first school?"],
  ["The oven runs hot by twenty degrees.", "By how many degrees does the oven run hot?"],
  ["Christmas will be at Henrik's farm.", "Where do we spend Christmas?"],
];

const OPENINGS = ["I think", "Today", "By the way,", "Yesterday", "Maybe", "Honestly,", "Look,", "Right,"];
const MIDDLES = [
  "we talked about the weather and the traffic",
  "the meeting about the budget was moved again",
  "somebody asked for the number of the office",
  "I bought bread, apples and a newspaper in town",
  "the bus was late and full of people",
  "they want to open another shop at the station",
  "my friend told a story about his holiday",
  "the film was long, but the music was good",
  "I need to call the bank about my account",
  "it takes hours to find a free place for the car",
  "the team plays at home this week",
  "what a day, and how much there is to do",
];
const ENDS = ["again.", "as always.", "and that was it.", "so what do you think?", "at the end.", "for now."];

/** Returns messages that say little, with many of the words of questions in them. */
export function fillers(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const pick = (words: readonly string[], step: number): string =>
      words[Math.floor(index / step) % words.length] ?? "";
    return `${pick(OPENINGS, 1)} ${pick(MIDDLES, 3)} ${pick(ENDS, 5)} (${index})`;
  });
}
